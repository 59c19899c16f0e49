//! TLS of the listeners, tested over sockets.

use std::{fs, path::Path};

use cosmos::{Certificate, Duplex};
use document::{Document, doc};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
};
use server_base::config::{ClientCertificates, Config, TlsMode};
use test_server::{
    MongoClient, Server, ask_stream,
    tls::{Identity, ask_mongo, connect_tls, made_certificate},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn ping() -> Document {
    doc! { "ping": 1, "$db": "admin" }
}

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Authority::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Creates a client certificate `CN=<name>,OU=x,O=y`.
fn identity(authority: &Authority, name: &str) -> Identity {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.distinguished_name = DistinguishedName::new();
    for (kind, value) in [
        (DnType::OrganizationName, "y"),
        (DnType::OrganizationalUnitName, "x"),
        (DnType::CommonName, name),
    ] {
        params.distinguished_name.push(kind, value);
    }
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, authority).unwrap().pem(), key.serialize_pem())
}

/// Returns whether an address answers a request with this status: over TLS, and without TLS.
async fn http_answers(address: &str, (path, status): (&str, u16), trusted: &str) -> (bool, bool) {
    let is_alive = async |stream: Box<dyn Duplex>| {
        let answer = ask_stream(stream, address, "GET", path, &[], "").await;
        answer.is_some_and(|answer| answer.status == status)
    };
    let secure = match connect_tls(address, trusted, None).await {
        Ok(stream) => is_alive(stream).await,
        Err(_) => false,
    };
    (secure, is_alive(Box::new(TcpStream::connect(address).await.unwrap())).await)
}

/// Returns whether the admin address answers: over TLS, and without TLS.
async fn admin_answers(server: &Server, trusted: &str) -> (bool, bool) {
    http_answers(server.0.admin().unwrap(), ("/livez", 200), trusted).await
}

fn write(path: &Path, (certificate, key): (&str, &str)) {
    fs::write(path.join("cert"), certificate).unwrap();
    fs::write(path.join("key"), key).unwrap();
}

#[tokio::test]
async fn who_begins_with_a_handshake_is_served_in_tls_as_the_setting_says() {
    let folder = tempfile::tempdir().unwrap();
    let made = Certificate::make_self_signed("").unwrap();
    write(folder.path(), (made.certificate(), made.key().text().unwrap()));
    let trusted = made.certificate();
    for (mode, secure, plain) in
        [(TlsMode::Off, false, true), (TlsMode::Allow, true, true), (TlsMode::Require, true, false)]
    {
        let config = Config {
            mongo_tls: mode,
            admin_tls: mode,
            cosmos_tls: mode,
            tls_cert: Some(folder.path().join("cert")),
            tls_key: Some(folder.path().join("key")),
            ..Config::for_tests()
        };
        let server = Server::new(&config).await;
        let client = ask_mongo(&server, trusted, None).await;
        assert_eq!(client.is_some(), secure, "{mode:?}");
        assert_eq!(server.connect().await.answers(ping()).await, plain, "{mode:?}");
        assert_eq!(admin_answers(&server, trusted).await, (secure, plain), "{mode:?}");
        let nosql = http_answers(server.0.cosmos().unwrap(), ("/dbs", 401), trusted).await;
        assert_eq!(nosql, (secure, plain), "{mode:?}");
        server.stop().await;
    }
}

/// The generated certificate survives a restart, also on a server without the NoSQL API.
#[tokio::test]
async fn the_certificate_is_kept_and_goes_with_any_listener() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        data_dir: Some(folder.path().join("data")),
        cosmos_addr: None,
        ..Config::for_tests()
    };
    for _ in 0..2 {
        let server = Server::new(&config).await;
        let kept = folder.path().join("data").join("nosql").join("certificate.pem");
        let trusted = fs::read_to_string(kept).unwrap();
        assert!(ask_mongo(&server, &trusted, None).await.is_some());
        server.stop().await;
    }
}

/// A message of 278 bytes starts with the same byte as a handshake, and its next bytes may arrive
/// late.
#[tokio::test]
async fn a_message_of_278_bytes_is_no_handshake() {
    let server = Server::new(&Config::for_tests()).await;
    let mut command = doc! { "ping": 1, "comment": "", "$db": "admin" };
    let missing = 278 - 21 - command.to_buf().bytes().len();
    command = doc! { "ping": 1, "comment": "c".repeat(missing), "$db": "admin" };
    let message = MongoClient::message_of(&command);
    assert_eq!((message.len(), message[0]), (278, 0x16));
    let mut client = server.connect().await;
    client.run_command(command).await;
    let mut stream = TcpStream::connect(server.0.mongo().unwrap()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in message {
        stream.write_all(&[byte]).await.unwrap();
    }
    assert!(0 < stream.read_u32_le().await.unwrap());
    server.stop().await;
}

#[tokio::test]
async fn files_are_read_again_while_connections_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let make = || Certificate::make_self_signed("").unwrap();
    let (old, new) = (make(), make());
    write(folder.path(), (old.certificate(), old.key().text().unwrap()));
    let config = Config {
        tls_cert: Some(folder.path().join("cert")),
        tls_key: Some(folder.path().join("key")),
        ..Config::for_tests()
    };
    let server = Server::new(&config).await;
    let mut first = ask_mongo(&server, old.certificate(), None).await.unwrap();
    // With a wrong key, a missing certificate or invalid text, the current one stays in use.
    for (certificate, key) in [
        (new.certificate(), old.key().text().unwrap()),
        ("", new.key().text().unwrap()),
        (new.certificate(), "noise"),
    ] {
        write(folder.path(), (certificate, key));
        server.0.reload();
        assert!(ask_mongo(&server, old.certificate(), None).await.is_some());
        assert_eq!(made_certificate(&server).await, old.certificate());
    }
    write(folder.path(), (new.certificate(), new.key().text().unwrap()));
    server.0.reload();
    for (certificate, good) in [(&old, false), (&new, true)] {
        let trusted = certificate.certificate();
        assert_eq!(ask_mongo(&server, trusted, None).await.is_some(), good);
        assert_eq!(admin_answers(&server, trusted).await, (good, true));
        assert_eq!(connect_tls(server.0.cosmos().unwrap(), trusted, None).await.is_ok(), good);
    }
    assert_eq!(made_certificate(&server).await, new.certificate());
    first.run_command(ping()).await;
    server.stop().await;
}

#[tokio::test]
async fn a_certificate_of_a_client_has_to_be_good() {
    let folder = tempfile::tempdir().unwrap();
    let (good, other) = (authority(), authority());
    let path = folder.path().join("ca");
    fs::write(&path, good.pem()).unwrap();
    let (ann, eve) = (identity(&good, "ann"), identity(&other, "eve"));
    for (certificates, without) in
        [(ClientCertificates::Allow, true), (ClientCertificates::Require, false)]
    {
        let config = Config {
            tls_client_ca: Some(path.clone()),
            tls_client_cert: certificates,
            mongo_tls: TlsMode::Require,
            ..Config::for_tests()
        };
        let server = Server::new(&config).await;
        let trusted = made_certificate(&server).await;
        for (shown, want) in [(None, without), (Some(&ann), true), (Some(&eve), false)] {
            let client = ask_mongo(&server, &trusted, shown).await;
            assert_eq!(client.is_some(), want, "{certificates:?}");
        }
        // The admin listener requests no client certificate.
        assert_eq!(admin_answers(&server, &trusted).await, (true, true));
        server.stop().await;
    }
    fs::write(&path, "noise").unwrap();
    let config = Config { tls_client_ca: Some(path), ..Config::for_tests() };
    let wrong = server::start(&config).await.unwrap_err().to_string();
    assert!(wrong.contains("--tls-client-ca") && wrong.contains("no certificate"), "{wrong}");
}

#[tokio::test]
async fn users_log_in_with_their_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let authority = authority();
    fs::write(folder.path().join("ca"), authority.pem()).unwrap();
    let config = Config {
        data_dir: Some(folder.path().join("data")),
        tls_client_ca: Some(folder.path().join("ca")),
        ..Config::for_tests()
    };
    let server = Server::new(&config).await;
    let roles = vec![doc! { "role": "readWrite", "db": "db" }];
    let create = doc! { "createUser": "CN=ann,OU=x,O=y", "roles": roles, "$db": "$external" };
    server.run_command(create).await;
    server.stop().await;
    let server = Server::new(&Config { mongo_auth: true, ..config }).await;
    let trusted = made_certificate(&server).await;
    let insert = doc! { "insert": "c", "documents": vec![doc! { "_id": 1 }], "$db": "db" };
    let login = doc! { "authenticate": 1, "mechanism": "MONGODB-X509", "$db": "$external" };
    for (shown, code) in [
        (Some(identity(&authority, "ann")), None),
        (Some(identity(&authority, "bob")), Some(18)),
        (None, Some(18)),
    ] {
        let mut client = ask_mongo(&server, &trusted, shown.as_ref()).await.unwrap();
        let refused = client.try_command(insert.clone()).await;
        assert_eq!(refused.get("code"), Some(&13.into()), "{refused:?}");
        let reply = client.try_command(login.clone()).await;
        assert_eq!(reply.get("code"), code.map(document::Value::Int32).as_ref(), "{reply:?}");
        let written = client.try_command(insert.clone()).await;
        assert_eq!(written.get("n").is_some(), code.is_none(), "{written:?}");
    }
    server.stop().await;
}
