//! The reply to clients that speak HTTP to the MongoDB API, such as a browser or curl on the wrong
//! port: a sentence and the portal's address, after which the connection is closed. `tls` detects
//! such clients.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Time in which the client must read the reply.
const ANSWER_TIME: Duration = Duration::from_secs(2);
/// Maximum bytes read of the client's request.
const REQUEST_MAX: u64 = 64 << 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PortalAddress {
    /// Bound address of the admin listener.
    pub(crate) bound: SocketAddr,
    /// `https` if the listener speaks only TLS, else `http`.
    pub(crate) scheme: &'static str,
}

/// Replies to a client that speaks HTTP; `needs_tls` is true if the listener requires TLS. Gives up
/// on clients that leave early or do not read.
pub(crate) async fn answer_http(
    mut stream: TcpStream,
    needs_tls: bool,
    portal: Option<PortalAddress>,
) {
    let answered = async {
        let (own, peer) = (stream.local_addr()?, stream.peer_addr()?);
        let text = text_for(own, peer, needs_tls, portal);
        stream.write_all(response(&text).as_bytes()).await?;
        stream.shutdown().await?;
        // Closing a socket with unread data would reset the connection and discard the reply.
        let mut request = (&mut stream).take(REQUEST_MAX);
        tokio::io::copy(&mut request, &mut tokio::io::sink()).await
    };
    let answered: Result<io::Result<u64>, _> = tokio::time::timeout(ANSWER_TIME, answered).await;
    if let Ok(Err(error)) = answered {
        tracing::debug!(%error, "a client that sent HTTP to the MongoDB API disconnected early");
    }
}

/// Returns the complete HTTP response with this text.
fn response(text: &str) -> String {
    let len = text.len();
    format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n\
         content-length: {len}\r\nconnection: close\r\n\r\n{text}"
    )
}

/// Returns the text of the reply. A portal on loopback cannot be reached from other machines, so
/// their clients do not get its address.
fn text_for(
    own: SocketAddr,
    peer: SocketAddr,
    needs_tls: bool,
    portal: Option<PortalAddress>,
) -> String {
    let (own_ip, peer_ip) = (own.ip().to_canonical(), peer.ip().to_canonical());
    let mongo = SocketAddr::new(own_ip, own.port());
    let options = if needs_tls { "?tls=true" } else { "" };
    let mut text = format!(
        "This is the MongoDB API of EbbDB, which does not speak HTTP.\n\
         Connect a MongoDB driver or mongosh to mongodb://{mongo}/{options}\n"
    );
    let reached = portal
        .filter(|portal| !portal.bound.ip().to_canonical().is_loopback() || peer_ip.is_loopback());
    if let Some(PortalAddress { bound, scheme }) = reached {
        let ip = match bound.ip().is_unspecified() {
            true => own_ip,
            false => bound.ip().to_canonical(),
        };
        let address = SocketAddr::new(ip, bound.port());
        text.push_str(&format!("The portal for a browser is {scheme}://{address}/\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(own: &str, peer: &str, portal: Option<&str>) -> String {
        let address = |text: &str| text.parse().unwrap();
        let portal = portal.map(|bound| PortalAddress { bound: address(bound), scheme: "http" });
        text_for(address(own), address(peer), false, portal)
    }

    #[test]
    fn the_portal_is_named_to_whom_it_helps() {
        let here = "127.0.0.1:27017";
        let said = told(here, "127.0.0.1:9", Some("127.0.0.1:8080"));
        assert_eq!(
            said,
            "This is the MongoDB API of EbbDB, which does not speak HTTP.\n\
             Connect a MongoDB driver or mongosh to mongodb://127.0.0.1:27017/\n\
             The portal for a browser is http://127.0.0.1:8080/\n"
        );
        for (own, peer, portal, want) in [
            (here, "127.0.0.1:9", None, None),
            ("10.0.0.1:27017", "10.0.0.2:9", Some("127.0.0.1:8080"), None),
            ("10.0.0.1:27017", "10.0.0.2:9", Some("0.0.0.0:80"), Some("http://10.0.0.1:80/")),
            ("10.0.0.1:27017", "10.0.0.2:9", Some("[::]:80"), Some("http://10.0.0.1:80/")),
            ("[::1]:27017", "[::1]:9", Some("[::1]:8080"), Some("http://[::1]:8080/")),
            ("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:9", Some("[::]:80"), Some("http://127.")),
        ] {
            let said = told(own, peer, portal);
            assert_eq!(said.contains("The portal"), want.is_some(), "{own} {portal:?}: {said}");
            assert!(said.contains(want.unwrap_or("mongodb://")), "{own} {portal:?}: {said}");
        }
    }
}
