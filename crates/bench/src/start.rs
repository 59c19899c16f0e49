//! Starts a server again and again on empty directories: time until it answers `hello`, memory at
//! rest, time until it is gone. It measures a first start, not a recovery: nothing is in the directory.

use std::{net::TcpListener, path::PathBuf, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::{
    address::Address,
    connection::Connection,
    error::{Error, Result},
    figures::{Figures, median_figures},
    limits::{CONNECT_PATIENCE, REST, START_POLL},
    pause, process,
};

/// Returns the medians of this many starts of a command, whose `{dir}` and `{port}` are filled in. Each
/// start has a directory of its own, which is removed even when the start failed.
pub(crate) async fn run_starts(command: &str, times: usize) -> Result<Figures> {
    let mut runs = Vec::with_capacity(times);
    for _ in 0..times {
        let directory = empty_directory()?;
        let figures = start_once(command, &directory).await;
        // Before the failure is looked at, or directories would pile up.
        let removed = std::fs::remove_dir_all(&directory);
        runs.push(figures?);
        removed?;
    }
    median_figures(&runs).ok_or_else(|| Error::Usage("start it at least once".to_owned()))
}

/// Starts the command once, waits until it answers, reads its memory at rest and ends it. Its output is
/// thrown away; a command that ends early is an error with its status.
async fn start_once(command: &str, directory: &std::path::Path) -> Result<Figures> {
    let address = Address { host: "127.0.0.1".to_owned(), port: free_port()? };
    let words = fill_command(command, &directory.to_string_lossy(), address.port);
    let (program, arguments) =
        words.split_first().ok_or_else(|| Error::Usage("there is no command".to_owned()))?;
    let begin = clock::monotonic_time();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(Error::io_error(program))?;
    let link = reach_server(&address, &mut child, begin).await?;
    let ready = clock::monotonic_time().saturating_sub(begin);
    // The memory at rest is that of a server without clients.
    drop(link);
    pause::pause_for(REST).await;
    let pid = child.id().ok_or_else(|| Error::Usage("the server has ended".to_owned()))?;
    let memory = process::resident_memory(pid)?;
    let gone = stop_server(&mut child, pid).await?;
    let mut figures = Figures { work: "start", connections: 1, ..Figures::default() };
    figures.add_extra("ready after, ms", ready.as_secs_f64() * 1e3);
    #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
    figures.add_extra("resident at rest, MB", memory as f64 / 1e6);
    figures.add_extra("gone after, ms", gone.as_secs_f64() * 1e3);
    Ok(figures)
}

/// Connects as soon as the server answers a greeting; trying each millisecond decides how exact the
/// time is. It gives up when the server has ended or takes too long.
async fn reach_server(address: &Address, child: &mut Child, begin: Duration) -> Result<Connection> {
    loop {
        match Connection::open_connection(address).await {
            Ok(link) => return Ok(link),
            Err(error) if CONNECT_PATIENCE < clock::monotonic_time().saturating_sub(begin) => {
                return Err(error);
            }
            Err(_) => pause::pause_for(START_POLL).await,
        }
        if let Some(status) = child.try_wait()? {
            return Err(Error::Usage(format!("the server ended before it answered: {status}")));
        }
    }
}

/// Sends SIGTERM and returns how long the server took to end. One that takes too long is killed.
async fn stop_server(child: &mut Child, pid: u32) -> Result<Duration> {
    let begin = clock::monotonic_time();
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        kill_process(pid, Signal::TERM).map_err(std::io::Error::from)?;
    }
    match tokio::time::timeout(CONNECT_PATIENCE, child.wait()).await {
        Ok(status) => status.map(|_| ())?,
        Err(_) => child.kill().await?,
    }
    Ok(clock::monotonic_time().saturating_sub(begin))
}

/// Returns the words of a command with directory and port filled in. It is split at spaces: there is no
/// shell, so quotes mean nothing.
fn fill_command(command: &str, directory: &str, port: u16) -> Vec<String> {
    let port = port.to_string();
    let fill = |word: &str| word.replace("{dir}", directory).replace("{port}", &port);
    command.split_whitespace().map(fill).collect()
}

/// Returns a port that was free a moment ago; the server binds it after this closed it.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Makes a directory with a name of its own among the temporary files.
fn empty_directory() -> Result<PathBuf> {
    let name = format!("ebb-bench-{}-{:x}", std::process::id(), fastrand::u64(..));
    let path = std::env::temp_dir().join(name);
    std::fs::create_dir(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_filled_in() {
        for (command, want) in [
            ("ebb serve", vec!["ebb", "serve"]),
            (
                "mongod --dbpath {dir}/data --port  {port}",
                vec!["mongod", "--dbpath", "/tmp/x/data", "--port", "9"],
            ),
            ("a --addr 127.0.0.1:{port}", vec!["a", "--addr", "127.0.0.1:9"]),
            ("  ", vec![]),
        ] {
            assert_eq!(fill_command(command, "/tmp/x", 9), want);
        }
    }
}
