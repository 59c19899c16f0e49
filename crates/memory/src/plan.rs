//! Divides the memory of the process between operations and the store's caches. Other uses, such as
//! code and stacks, are small in comparison.

/// Minimum memory of a server.
pub const LEAST: usize = 128 * MB;
const MB: usize = 1024 * 1024;

/// Minimum and maximum of the default memory.
const DEFAULT: (usize, usize) = (512 * MB, 2048 * MB);

/// The division of the process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Maximum memory of the process in bytes.
    pub process: usize,
}

impl Plan {
    /// Returns the default for a machine with `machine` bytes: a quarter of it, within bounds. 0,
    /// for unknown, gives the minimum.
    pub fn usual(machine: usize) -> Self {
        let (least, most) = DEFAULT;
        Self { process: (machine / 4).clamp(least, most) }
    }

    /// Returns the maximum memory of all operations.
    pub fn operations_bytes(self) -> usize {
        self.process / 2
    }

    /// Returns the maximum memory of all connections before their first complete request. It is a
    /// part of the memory of operations.
    pub fn handshake_bytes(self) -> usize {
        self.process / 16
    }

    /// Returns the size of the store's block cache.
    pub fn cache_bytes(self) -> usize {
        (self.process / 8).min(256 * MB)
    }

    /// Returns the size of the row cache, which is separate from the block cache.
    pub fn row_cache_bytes(self) -> usize {
        (self.process / 8).min(128 * MB)
    }

    /// Returns the memory that writes of large documents together may hold, in addition to the
    /// memory of operations: four copies of the largest document in a server of 512 MB.
    pub fn large_write_bytes(self) -> usize {
        self.process / 8
    }

    /// Returns the maximum data size of a server that keeps its data in memory and so needs neither
    /// cache nor journal.
    pub fn data_bytes(self) -> usize {
        self.process / 8 * 3
    }

    /// Returns the size of the store's journal, which contains all writes that are only in memory.
    pub fn journal_bytes(self) -> usize {
        (self.process / 8).min(128 * MB)
    }

    /// Returns the size of unflushed writes at which the store starts to flush. Writers wait at
    /// twice that, and memory being flushed is held until it is in a table.
    pub fn write_buffer_bytes(self) -> usize {
        (self.process / 16).min(128 * MB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_machine_within_bounds() {
        for (machine, process) in [(0, 512), (1024, 512), (4096, 1024), (64 * 1024, 2048)] {
            assert_eq!(Plan::usual(machine * MB).process, process * MB);
        }
    }

    #[test]
    fn the_parts_fit_the_whole() {
        for process in [LEAST, 512 * MB, 1000 * MB, 2048 * MB, 64 * 1024 * MB] {
            let plan = Plan { process };
            let buffers = 2 * plan.write_buffer_bytes();
            let store = plan.cache_bytes() + plan.row_cache_bytes() + buffers;
            assert!(plan.handshake_bytes() <= plan.operations_bytes());
            assert!(plan.operations_bytes() + store <= process - process / 8, "{process}");
            assert!(
                plan.operations_bytes() + plan.data_bytes() <= process - process / 8,
                "{process}"
            );
        }
    }
}
