//! Reads CPU time, memory and directory sizes from Linux.

use std::{fmt::Display, fs, io, os::unix::fs::MetadataExt, path::Path, time::Duration};

use crate::error::{Error, Result};

/// Reads a file in `/proc`.
fn read_file(path: &str) -> Result<String> {
    fs::read_to_string(path).map_err(Error::io_error(format_args!("reading {path}")))
}

/// Returns the error for a file with unexpected content.
fn malformed_file(path: impl Display) -> Error {
    Error::io_error(path)(io::ErrorKind::InvalidData.into())
}

/// Returns the user and kernel CPU time of all threads of a process. Linux counts it in ticks of
/// usually 10 ms, which is too coarse for one request but sufficient for a window of seconds.
pub(crate) fn cpu_time(pid: u32) -> Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let ticks = cpu_ticks(&read_file(&path)?).ok_or_else(|| malformed_file(&path))?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / per_second)))
}

/// Returns the CPU time of the calling process.
pub(crate) fn own_cpu_time() -> Result<Duration> {
    cpu_time(std::process::id())
}

/// Returns the resident memory of a process in bytes.
pub(crate) fn resident_memory(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    status_bytes(&read_file(&path)?, "VmRSS:").ok_or_else(|| malformed_file(&path))
}

/// Returns the peak resident memory of a process in bytes.
pub(crate) fn peak_memory(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    status_bytes(&read_file(&path)?, "VmHWM:").ok_or_else(|| malformed_file(&path))
}

/// Returns the disk usage of the files below a directory, in whole blocks. Files that disappear
/// during the measurement are ignored, because a server may remove some at any time.
pub(crate) fn disk_usage(directory: &Path) -> Result<u64> {
    let mut total = 0;
    // Directories to be read; avoids recursion.
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && path != directory => continue,
            Err(error) => return Err(Error::io_error(path.display())(error)),
        };
        for entry in entries.flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            total += meta.blocks() * 512;
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(total)
}

/// Returns user and kernel ticks of `/proc/<pid>/stat`. The second field is the program's name,
/// which may contain spaces and brackets, so counting starts after the last bracket.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let kernel: u64 = fields.next()?.parse().ok()?;
    Some(user + kernel)
}

/// Returns the value in bytes of a line of `/proc/<pid>/status`.
fn status_bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_found_behind_any_name() {
        let numbers = "S 1 2 3 4 5 6 7 8 9 10 250 17 0 0 20";
        for (stat, want) in [
            (format!("42 (mongod) {numbers}"), Some(267)),
            (format!("42 (a ) (b) {numbers}"), Some(267)),
            ("42 (ebb) S 1 2".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(cpu_ticks(&stat), want, "{stat}");
        }
    }

    #[test]
    fn resident_memory_is_in_kilobytes() {
        for (status, want) in [
            ("Name:\tebb\nVmRSS:\t    2048 kB\nThreads:\t1\n", Some(2_097_152)),
            ("Name:\tkthreadd\n", None),
            ("VmRSS:\tmany kB\n", None),
        ] {
            assert_eq!(status_bytes(status, "VmRSS:"), want, "{status}");
        }
    }

    #[test]
    fn this_process_is_there() {
        let own = std::process::id();
        assert!(0 < resident_memory(own).unwrap());
        assert!(resident_memory(own).unwrap() <= peak_memory(own).unwrap());
        assert!(own_cpu_time().is_ok());
        assert!(cpu_time(u32::MAX).is_err());
    }

    #[test]
    fn a_directory_is_as_large_as_its_files() {
        let root = std::env::temp_dir().join(format!("ebb-bench-du-{}", std::process::id()));
        fs::create_dir_all(root.join("deep")).unwrap();
        let empty = disk_usage(&root).unwrap();
        fs::write(root.join("deep/file"), vec![7; 100_000]).unwrap();
        let full = disk_usage(&root).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert!((100_000..120_000).contains(&(full - empty)), "{empty} {full}");
        assert!(disk_usage(&root).is_err());
    }
}
