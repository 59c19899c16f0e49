//! Facts and counters of the machine, for `hostInfo` and `getDiagnosticData`, read from `/proc`,
//! `/sys` and `/etc`; where those do not exist, values are 0 or empty.

use std::{collections::HashSet, fs};

use mongo::{Machine, MachineFigures};
use server_base::machine::{parse_kilobytes, total_memory};

/// The lines of `/proc/meminfo` that MongoDB's exporters read.
const MEMORY: [&str; 15] = [
    "MemTotal",
    "MemFree",
    "MemAvailable",
    "Buffers",
    "Cached",
    "SwapCached",
    "Active",
    "Inactive",
    "Active(anon)",
    "Inactive(anon)",
    "Active(file)",
    "Inactive(file)",
    "SwapTotal",
    "SwapFree",
    "Dirty",
];

/// Names of the times in the first line of `/proc/stat`, in order.
const TIMES: [&str; 10] = [
    "user_ms",
    "nice_ms",
    "system_ms",
    "idle_ms",
    "iowait_ms",
    "irq_ms",
    "softirq_ms",
    "steal_ms",
    "guest_ms",
    "guest_nice_ms",
];

/// Lines of `/proc/stat` with a single number.
const COUNTS: [&str; 5] = ["ctxt", "btime", "processes", "procs_running", "procs_blocked"];

/// Returns facts about the machine.
pub(crate) fn machine() -> Machine {
    let memory = read("/proc/meminfo");
    let cores = read("/proc/cpuinfo");
    let (physical_cores, sockets) = count_cores(&cores);
    let nodes = fs::read_dir("/sys/devices/system/node").map_or(0, |entries| {
        let names = entries.flatten().map(|entry| entry.file_name());
        names.filter(|name| is_numa_node(&name.to_string_lossy())).count()
    });
    let open_files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    Machine {
        memory: parse_kilobytes(&memory, "MemTotal:").map_or(0, |bytes| bytes as u64),
        memory_limit: total_memory() as u64,
        physical_cores,
        sockets,
        numa_nodes: u32::try_from(nodes).unwrap_or(u32::MAX),
        core_mhz: field(&cores, "cpu MHz").unwrap_or_default().to_owned(),
        system: system_name(&read("/etc/os-release")),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        page_bytes: rustix::param::page_size() as u64,
        max_open_files: open_files.unwrap_or(0),
    }
}

/// Returns the machine's processor and memory counters.
pub(crate) fn figures() -> MachineFigures {
    let stat = read("/proc/stat");
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    let mut cpu = Vec::new();
    let cores = stat.lines().filter(|line| line.starts_with("cpu")).count().saturating_sub(1);
    if 0 < cores {
        cpu.push(("num_cpus".to_owned(), cores as u64));
    }
    let times = stat.lines().next().and_then(|line| line.strip_prefix("cpu "));
    let times = times.into_iter().flat_map(str::split_whitespace);
    cpu.extend(TIMES.iter().zip(times).filter_map(|(name, time)| {
        let time: u64 = time.parse().ok()?;
        Some(((*name).to_owned(), time.saturating_mul(1000) / ticks))
    }));
    cpu.extend(COUNTS.iter().filter_map(|name| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        Some(((*name).to_owned(), line.trim().parse().ok()?))
    }));
    let memory = read("/proc/meminfo");
    let memory = MEMORY.iter().filter_map(|name| {
        let bytes = parse_kilobytes(&memory, &format!("{name}:"))?;
        Some((format!("{name}_kb"), (bytes / 1024) as u64))
    });
    MachineFigures { cpu, memory: memory.collect() }
}

/// Reads a file; empty if it is unreadable.
fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the value of the first line of the form `name : value`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let value =
        |line: &'a str| Some(line.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim());
    text.lines().find_map(value)
}

/// Counts physical cores and sockets in `/proc/cpuinfo`. Without that information, a machine counts
/// as one socket with a core per thread.
fn count_cores(text: &str) -> (u32, u32) {
    let mut cores = HashSet::new();
    let mut sockets = HashSet::new();
    let mut threads = 0_usize;
    for block in text.split("\n\n").filter(|block| field(block, "processor").is_some()) {
        threads += 1;
        let socket = field(block, "physical id").unwrap_or("0");
        sockets.insert(socket);
        if let Some(core) = field(block, "core id") {
            cores.insert((socket, core));
        }
    }
    let cores = if cores.is_empty() { threads } else { cores.len() };
    (u32::try_from(cores).unwrap_or(u32::MAX), u32::try_from(sockets.len()).unwrap_or(u32::MAX))
}

/// Returns whether an entry of `/sys/devices/system/node` is a NUMA node: `node` and a number.
fn is_numa_node(name: &str) -> bool {
    name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns the display name in `/etc/os-release`.
fn system_name(text: &str) -> String {
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or("Linux", |name| name.trim_matches('"')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_and_names_are_read() {
        let thread = |number: u32, socket: u32, core: u32| {
            format!("processor\t: {number}\nphysical id\t: {socket}\ncore id\t: {core}\n\n")
        };
        let text = [(0, 0, 0), (1, 0, 1), (2, 0, 0), (3, 1, 0)].map(|(n, s, c)| thread(n, s, c));
        assert_eq!(count_cores(&text.concat()), (3, 2));
        assert_eq!(count_cores("processor : 0\n\nprocessor : 1\n"), (2, 1));
        assert_eq!(count_cores(""), (0, 0));
        assert_eq!(system_name("ID=x\nPRETTY_NAME=\"X 12\"\n"), "X 12");
        assert_eq!(system_name(""), "Linux");
        assert!(is_numa_node("node0") && !is_numa_node("node") && !is_numa_node("nodes"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_says_what_it_is() {
        let machine = machine();
        assert!(0 < machine.memory && machine.memory_limit <= machine.memory, "{machine:?}");
        assert!(0 < machine.physical_cores && !machine.kernel.is_empty(), "{machine:?}");
        let figures = figures();
        assert!(figures.cpu.iter().any(|(name, time)| name == "user_ms" && 0 < *time));
        assert!(
            figures.memory.iter().any(|(name, kilobytes)| name == "MemTotal_kb" && 0 < *kilobytes)
        );
    }
}
