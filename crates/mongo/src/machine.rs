//! The machine that the process runs on, for `hostInfo` and `getDiagnosticData`. The server
//! collects the values.

/// Properties of the machine; 0 or empty if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Memory of the machine in bytes.
    pub memory: u64,
    /// Memory that the process may use, in bytes. In a container with a limit it is less than the
    /// machine's.
    pub memory_limit: u64,
    /// Number of physical processor cores.
    pub physical_cores: u32,
    /// Number of processor sockets of the machine.
    pub sockets: u32,
    /// Number of NUMA nodes of the machine.
    pub numa_nodes: u32,
    /// Clock rate of the first core in MHz, as the system reports it.
    pub core_mhz: String,
    /// Display name of the operating system.
    pub system: String,
    /// Version of the operating system's kernel.
    pub kernel: String,
    /// Memory page size in bytes.
    pub page_bytes: u64,
    /// Maximum number of open files of the process.
    pub max_open_files: u64,
}

/// A sample of the machine's load figures; unknown ones are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineFigures {
    /// Processor times of all cores in milliseconds, and other counts, since the machine started.
    pub cpu: Vec<(String, u64)>,
    /// Memory by use, in kilobytes.
    pub memory: Vec<(String, u64)>,
}
