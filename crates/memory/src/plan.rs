//! What the memory of the process is for: operations, and the store's caches. Other parts, such as
//! code and threads, are small beside these.

/// The least that a server can be given.
pub const LEAST: usize = 128 * MB;
const MB: usize = 1024 * 1024;

/// The least and the most that a server takes when nothing is said.
const DEFAULT: (usize, usize) = (512 * MB, 2048 * MB);

/// How the memory of the process is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the process may hold.
    pub process: usize,
}

impl Plan {
    /// Returns what is usual on a machine of `machine` bytes: a quarter of it, within bounds. 0, for a
    /// machine that does not tell, is the least.
    pub fn usual(machine: usize) -> Self {
        let (least, most) = DEFAULT;
        Self { process: (machine / 4).clamp(least, most) }
    }

    /// Returns what operations may hold together.
    pub fn operations_bytes(self) -> usize {
        self.process / 2
    }

    /// Returns what connections may hold together before their first request is whole; it is a part of
    /// what operations may hold.
    pub fn strangers_bytes(self) -> usize {
        self.process / 16
    }

    /// Returns the bytes of blocks of tables that the store keeps.
    pub fn cache_bytes(self) -> usize {
        (self.process / 8).min(256 * MB)
    }

    /// Returns the bytes of rows that were read by their keys lately, apart from their blocks.
    pub fn row_cache_bytes(self) -> usize {
        (self.process / 8).min(128 * MB)
    }

    /// Returns the bytes of data of a server that keeps them in memory, which needs neither cache nor
    /// journal.
    pub fn data_bytes(self) -> usize {
        self.process / 8 * 3
    }

    /// Returns the bytes of the store's journal: all writes that are only in memory are in it.
    pub fn journal_bytes(self) -> usize {
        (self.process / 8).min(128 * MB)
    }

    /// Returns the bytes of writes in memory from which the store begins to write tables. Writers wait
    /// at twice that, and what is being written is held until it is in a table.
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
            assert!(plan.strangers_bytes() <= plan.operations_bytes());
            assert!(plan.operations_bytes() + store <= process - process / 8, "{process}");
            assert!(
                plan.operations_bytes() + plan.data_bytes() <= process - process / 8,
                "{process}"
            );
        }
    }
}
