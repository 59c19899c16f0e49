//! Notices a node at the other end of a link that is gone without a word, as when its machine lost power or
//! the network to it: nothing resets such a connection, and whoever waits on it would wait for minutes.

use std::{io, os::fd::AsFd, time::Duration};

use rustix::net::sockopt;

/// The pause after which a silent connection is probed.
const IDLE: Duration = Duration::from_secs(2);
/// The pause between two probes, and how many stay without an answer until the connection ends.
const PROBES: (Duration, u32) = (Duration::from_secs(1), 3);
/// For how long what was sent may stay without an acknowledgement of the other system, in milliseconds.
const UNACKNOWLEDGED_MS: u32 = 5_000;

/// Has the system end a connection whose other end does not answer for some five seconds.
pub(crate) fn keep_alive(stream: &impl AsFd) -> io::Result<()> {
    let (interval, count) = PROBES;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, IDLE)?;
    sockopt::set_tcp_keepintvl(stream, interval)?;
    sockopt::set_tcp_keepcnt(stream, count)?;
    sockopt::set_tcp_user_timeout(stream, UNACKNOWLEDGED_MS)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_link_is_probed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(!sockopt::socket_keepalive(&stream).unwrap());
        keep_alive(&stream).unwrap();
        assert!(sockopt::socket_keepalive(&stream).unwrap());
        assert_eq!(sockopt::tcp_keepidle(&stream).unwrap(), IDLE);
        assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), UNACKNOWLEDGED_MS);
    }
}
