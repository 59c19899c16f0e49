//! Memory of the machine and resource use of this process, read from `/proc` and `/sys`; where
//! those do not exist, a value is 0 or `None` and callers do without.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt as _,
    sync::OnceLock,
};

use mongo::Usage;

/// Files with a container's memory limit in bytes: control groups version 2, version 1.
const LIMITS: [&str; 2] =
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Returns the memory available to this process in bytes: the machine's, or its container's limit
/// if smaller; 0 if unknown.
pub fn total_memory() -> usize {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| parse_kilobytes(&text, "MemTotal:")).unwrap_or(0);
    let limits = LIMITS.iter().filter_map(|path| fs::read_to_string(path).ok());
    let limits = limits.filter_map(|text| text.trim().parse::<usize>().ok());
    // "max" in the file does not parse, so an unlimited container has no limit.
    limits.filter(|limit| 0 < *limit).fold(machine, usize::min)
}

/// Returns the machine's host name.
pub fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the resident memory of this process in bytes.
pub fn resident_bytes() -> Option<usize> {
    Some(statm()?.0)
}

/// Returns the resident memory that is not backed by files such as the program, whose pages the
/// system can drop at any time. Accounts call it every few megabytes, so it has to be cheap.
pub fn own_bytes() -> Option<usize> {
    statm().map(|(resident, shared)| resident.saturating_sub(shared))
}

/// Returns the resident memory in bytes, and the part of it that is backed by files.
fn statm() -> Option<(usize, usize)> {
    // Kept open: opening takes longer than reading.
    static STATM: OnceLock<Option<File>> = OnceLock::new();
    // Unlike `/proc/self/status` this is cheap for the system to produce.
    let file = STATM.get_or_init(|| File::open("/proc/self/statm").ok()).as_ref()?;
    let mut text = [0; 128];
    let read = file.read_at(&mut text, 0).ok()?;
    let text = str::from_utf8(text.get(..read)?).ok()?;
    let mut pages = text.split_whitespace().skip(1).map(|pages| pages.parse::<usize>().ok());
    let mut bytes = || Some(pages.next()??.saturating_mul(rustix::param::page_size()));
    Some((bytes()?, bytes()?))
}

/// Returns this process's resource usage since its start, for `serverStatus`. Reads three files of
/// `/proc`, see proc(5).
pub fn process_usage() -> Usage {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let bytes = |name| parse_kilobytes(&status, name).and_then(|bytes| u64::try_from(bytes).ok());
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    let time = |place| number_at(&stat, place).saturating_mul(1_000_000) / ticks;
    Usage {
        resident: bytes("VmRSS:").unwrap_or(0),
        peak: bytes("VmHWM:").unwrap_or(0),
        mapped: bytes("VmSize:").unwrap_or(0),
        user_us: time(14),
        system_us: time(15),
        minor_faults: number_at(&stat, 10),
        major_faults: number_at(&stat, 12),
        voluntary_switches: named_number(&status, "voluntary_ctxt_switches:"),
        involuntary_switches: named_number(&status, "nonvoluntary_ctxt_switches:"),
        blocks_in: named_number(&io, "read_bytes:") / 512,
        blocks_out: named_number(&io, "write_bytes:") / 512,
    }
}

/// Returns the number in a line of the form `name: 12345`; 0 without such a line.
fn named_number(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Returns a field of `/proc/self/stat` as a number, counted from 1 as in proc(5); 0 if missing.
/// Field 2 is the program's name in brackets, which may itself contain spaces and brackets, so
/// counting starts after the last bracket.
fn number_at(line: &str, place: usize) -> u64 {
    let behind = line.rsplit_once(')').map_or("", |(_, rest)| rest);
    let number = place.checked_sub(3).and_then(|at| behind.split_whitespace().nth(at));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the value in bytes of a line of the form `Name:   12345 kB`.
pub fn parse_kilobytes(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_read() {
        let text = "MemTotal:       24683520 kB\nMemFree:  1 kB\nOdd: 7\n";
        assert_eq!(parse_kilobytes(text, "MemTotal:"), Some(24_683_520 << 10));
        assert_eq!(parse_kilobytes(text, "MemFree:"), Some(1024));
        assert_eq!(parse_kilobytes(text, "Odd:"), None);
        assert_eq!(parse_kilobytes(text, "Other:"), None);
    }

    #[test]
    fn numbers_of_a_process_are_found_behind_its_name() {
        let line = "7 (a b) c) S 1 7 7 0 -1 4194560 1100 0 60 0 15 4 0 0 20 0 9";
        for (place, want) in [(4, 1), (10, 1100), (12, 60), (14, 15), (15, 4), (99, 0), (1, 0)] {
            assert_eq!(number_at(line, place), want, "{place}");
        }
        assert_eq!(number_at("", 10), 0);
        assert_eq!(named_number("a: 1\nread_bytes: 1024\n", "read_bytes:"), 1024);
        assert_eq!(named_number("a: 1\n", "read_bytes:"), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_smaller_than_its_machine() {
        let (resident, own) = (resident_bytes().unwrap(), own_bytes().unwrap());
        // The program's own pages are backed by its file.
        assert!(0 < own && own < resident, "{own} {resident}");
        assert!(0 < resident && resident < total_memory(), "{resident} {}", total_memory());
        let usage = process_usage();
        assert!(0 < usage.resident && usage.resident <= usage.mapped, "{usage:?}");
        assert!(0 < usage.minor_faults && usage.resident <= usage.peak, "{usage:?}");
    }
}
