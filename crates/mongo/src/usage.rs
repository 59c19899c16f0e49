//! The process's resource usage. The server collects the values.

/// Resource usage of the process; 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Resident memory of the process in bytes.
    pub resident: u64,
    /// Peak resident memory in bytes.
    pub peak: u64,
    /// Mapped address space in bytes.
    pub mapped: u64,
    /// User CPU time in microseconds.
    pub user_us: u64,
    /// System CPU time in microseconds.
    pub system_us: u64,
    /// Page faults that read from a device.
    pub major_faults: u64,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Number of voluntary context switches.
    pub voluntary_switches: u64,
    /// Number of involuntary context switches.
    pub involuntary_switches: u64,
    /// Number of blocks of 512 bytes read from devices.
    pub blocks_in: u64,
    /// Number of blocks of 512 bytes written to devices.
    pub blocks_out: u64,
}
