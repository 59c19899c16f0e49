//! The machine that the process runs on, for `hostInfo` and `getDiagnosticData`. The server asks the
//! machine; here are only the facts and figures.

/// What the machine is; 0 or empty where it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of memory that the process may use: fewer in a container with a limit.
    pub memory_limit: u64,
    /// Processor cores that are no threads of others.
    pub physical_cores: u32,
    /// Processors.
    pub sockets: u32,
    /// Parts of memory that are nearer to some processors than to others.
    pub numa_nodes: u32,
    /// Hertz of the first core, in millions, as the system writes it.
    pub core_mhz: String,
    /// The name of the operating system, as it is shown to people.
    pub system: String,
    /// The version of its kernel.
    pub kernel: String,
    /// Bytes of a page of memory.
    pub page_bytes: u64,
    /// Files that the process may have open at once.
    pub max_open_files: u64,
}

/// What the machine does, as it was read; sections without an entry where the machine does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineFigures {
    /// Times of all cores in milliseconds, and counts, since the machine started.
    pub cpu: Vec<(String, u64)>,
    /// Kilobytes of memory by use.
    pub memory: Vec<(String, u64)>,
}
