//! Detects a peer on a link that disappeared without closing the connection, for example by a power
//! or network failure: TCP alone would wait for minutes.

use std::{io, os::fd::AsFd, time::Duration};

use rustix::net::sockopt;

/// Idle time after which TCP probes a connection.
const IDLE: Duration = Duration::from_secs(2);
/// Interval of probes, and number of unanswered ones before the connection is closed.
const PROBES: (Duration, u32) = (Duration::from_secs(1), 3);
/// Maximum time that sent data may stay unacknowledged, in milliseconds.
const UNACKNOWLEDGED_MS: u32 = 5_000;

/// Configures a connection to be closed if the peer does not answer for about five seconds.
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
