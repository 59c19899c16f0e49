//! What the process takes of its machine. The server asks the machine; here are only the figures.

/// What the process has used, or holds; 0 where the machine does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes in memory.
    pub resident: u64,
    /// The most that were ever in memory, bytes.
    pub peak: u64,
    /// Bytes of address space.
    pub mapped: u64,
    /// Microseconds of processor time of its own code.
    pub user_us: u64,
    /// Microseconds of processor time of the system for it.
    pub system_us: u64,
    /// Pages that had to be read from a device.
    pub major_faults: u64,
    /// Pages that were found in memory.
    pub minor_faults: u64,
    /// Times that a thread waited for something.
    pub voluntary_switches: u64,
    /// Times that a thread had to make way for another.
    pub involuntary_switches: u64,
    /// Blocks of 512 bytes that were read from devices.
    pub blocks_in: u64,
    /// Blocks of 512 bytes that were written to devices.
    pub blocks_out: u64,
}
