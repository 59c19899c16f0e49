//! What the system says of memory: how much this process could have, and how much it has. Where the
//! system says nothing nothing is known.

use std::fs;

/// Where a container's limit stands, by the version of control groups.
const LIMITS: [&str; 2] =
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Bytes of memory that there are for this process: those of its machine or of its container. 0:
/// that is not known.
pub(crate) fn memory() -> usize {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| kilobytes(&text, "MemTotal:")).unwrap_or(0);
    let limits = LIMITS.iter().filter_map(|path| fs::read_to_string(path).ok());
    let limits = limits.filter_map(|text| text.trim().parse::<usize>().ok());
    limits.filter(|limit| 0 < *limit).fold(machine, usize::min)
}

/// Bytes of this process that are in memory now.
pub(crate) fn resident() -> Option<usize> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// A line of the kind `Name:   12345 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_read() {
        let text = "MemTotal:       24683520 kB\nMemFree:  1 kB\nOdd: 7\n";
        assert_eq!(kilobytes(text, "MemTotal:"), Some(24_683_520 << 10));
        assert_eq!(kilobytes(text, "MemFree:"), Some(1024));
        assert_eq!(kilobytes(text, "Odd:"), None);
        assert_eq!(kilobytes(text, "Other:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_smaller_than_its_machine() {
        let resident = resident().unwrap();
        assert!(0 < resident && resident < memory(), "{resident} {}", memory());
    }
}
