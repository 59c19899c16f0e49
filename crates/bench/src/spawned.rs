//! A server that the load generator starts on a given directory. If the directory has data, the
//! start measures recovery.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};

use crate::{
    address::Address,
    connection::Connection,
    error::{Error, Result},
    limits::{CONNECT_PATIENCE, START_POLL},
    pause,
};

/// A running server, which is killed on drop.
pub(crate) struct Spawned {
    child: Child,
    pub(crate) address: Address,
    pub(crate) pid: u32,
    /// Time from the start of the process until its first answer.
    pub(crate) ready: Duration,
}

impl Spawned {
    /// Runs the command, with `{dir}` and `{port}` replaced, and waits until the server answers.
    /// The output of the server is discarded. If the command ends before that, this fails with its
    /// exit status.
    pub(crate) async fn start(command: &str, directory: &Path) -> Result<Self> {
        let address = Address::local(free_port()?);
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
        // The connection is closed here: memory at rest is measured without clients.
        reach_server(&address, &mut child, begin).await?;
        let ready = clock::monotonic_time().saturating_sub(begin);
        let pid = child.id().ok_or_else(|| Error::Usage("the server has ended".to_owned()))?;
        Ok(Self { child, address, pid, ready })
    }

    /// Kills the server, as in a crash.
    pub(crate) async fn kill(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Sends SIGTERM and returns the time that the server took to end. After a timeout the server
    /// is killed.
    pub(crate) async fn stop(mut self) -> Result<Duration> {
        let begin = clock::monotonic_time();
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM).map_err(std::io::Error::from)?;
        }
        match tokio::time::timeout(CONNECT_PATIENCE, self.child.wait()).await {
            Ok(status) => status.map(|_| ())?,
            Err(_) => self.child.kill().await?,
        }
        Ok(clock::monotonic_time().saturating_sub(begin))
    }
}

/// A uniquely named directory, which is removed with its contents on drop.
pub(crate) struct OwnDirectory(PathBuf);

impl OwnDirectory {
    /// Creates the directory in this folder.
    pub(crate) fn make_in(folder: &Path) -> Result<Self> {
        let name = format!("ebb-bench-{}-{:x}", std::process::id(), fastrand::u64(..));
        let path = folder.join(name);
        std::fs::create_dir(&path).map_err(Error::io_error(path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OwnDirectory {
    fn drop(&mut self) {
        // A server that is still being killed may add files; they remain in a temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Connects as soon as the server completes a handshake. It tries every millisecond, which is the
/// precision of the measured time. Fails if the server ends or takes too long.
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

/// Splits a command into words and replaces directory and port. There is no shell, so quotes have
/// no effect.
fn fill_command(command: &str, directory: &str, port: u16) -> Vec<String> {
    let port = port.to_string();
    let fill = |word: &str| word.replace("{dir}", directory).replace("{port}", &port);
    command.split_whitespace().map(fill).collect()
}

/// Returns a currently free port. The socket that found it is closed before this returns, so that
/// the server can bind the port.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
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
