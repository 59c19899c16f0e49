//! HTTP clients at the port of the MongoDB API.

use server_base::config::{Config, TlsMode};
use test_server::Server;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_at_the_wrong_port_is_told_the_right_one() {
    let of = |mongo_tls| Config { mongo_tls, ..Config::for_tests() };
    for mode in [TlsMode::Off, TlsMode::Allow, TlsMode::Require] {
        let server = Server::new(&of(mode)).await;
        for method in ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"] {
            let mut client = TcpStream::connect(server.0.mongo().unwrap()).await.unwrap();
            let request = format!("{method} / HTTP/1.1\r\nhost: x\r\n\r\n");
            client.write_all(request.as_bytes()).await.unwrap();
            let mut said = String::new();
            client.read_to_string(&mut said).await.unwrap();
            assert!(said.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{method}: {said}");
            let portal = format!("http://{}/\n", server.0.admin().unwrap());
            assert!(said.ends_with(&portal), "{method}: {said}");
            let secure = mode == TlsMode::Require;
            assert_eq!(said.contains("/?tls=true\n"), secure, "{method}: {said}");
            let (head, body) = said.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
        }
        server.stop().await;
    }
}
