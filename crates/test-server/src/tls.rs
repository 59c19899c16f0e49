//! TLS clients of a server. Helpers panic on failures.

use std::sync::Arc;

use cosmos::Duplex;
use document::doc;
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

use crate::{MongoClient, Server, ask_stream};

/// A certificate and its key, in PEM.
pub type Identity = (String, String);

/// Connects with TLS, trusting this certificate. In TLS 1.3 a client learns only from the first
/// read that its own certificate was rejected.
pub async fn connect_tls(
    address: &str,
    trusted: &str,
    shown: Option<&Identity>,
) -> std::io::Result<Box<dyn Duplex>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match shown {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()];
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    Ok(Box::new(TlsConnector::from(Arc::new(config)).connect(name, stream).await?))
}

/// Connects to the MongoDB API with TLS; `None` if it does not answer.
pub async fn ask_mongo(
    server: &Server,
    trusted: &str,
    shown: Option<&Identity>,
) -> Option<MongoClient> {
    let stream = connect_tls(server.0.mongo().unwrap(), trusted, shown).await.ok()?;
    let mut client = MongoClient::over(stream);
    client.answers(doc! { "ping": 1, "$db": "admin" }).await.then_some(client)
}

/// Returns the certificate that a server generated.
pub async fn made_certificate(server: &Server) -> String {
    let address = server.0.cosmos().unwrap();
    let stream = Box::new(TcpStream::connect(address).await.unwrap());
    let answer = ask_stream(stream, address, "GET", "/_explorer/emulator.pem", &[], "").await;
    answer.unwrap().body
}
