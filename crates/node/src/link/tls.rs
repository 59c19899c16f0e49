//! TLS of the link: both sides present a certificate of the cluster's authority.

use std::{fs, io, path::Path, sync::Arc};

use auth::Secret;
use cosmos::Duplex;
use server_base::failure::Failure;
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsAcceptor, TlsConnector,
    rustls::{
        ClientConfig, RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
        server::WebPkiClientVerifier,
    },
};

/// The TLS configuration of a node as the called and as the calling side.
#[derive(Clone)]
pub(crate) struct LinkTls {
    acceptor: TlsAcceptor,
    connector: TlsConnector,
}

impl LinkTls {
    /// Reads the certificate files; the error names the setting.
    pub(crate) fn open(authority: &Path, chain: &Path, key: &Path) -> Result<Self, Failure> {
        let wrong = |setting: &str, path: &Path, error: &dyn std::fmt::Display| {
            Failure::Usage(format!("--peer-{setting} {}: {error}", path.display()))
        };
        let certificates = |setting: &str, path: &Path| {
            CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| wrong(setting, path, &error))
        };
        let mut roots = RootCertStore::empty();
        for root in certificates("ca", authority)? {
            roots.add(root).map_err(|error| wrong("ca", authority, &error))?;
        }
        let roots = Arc::new(roots);
        let own = certificates("cert", chain)?;
        let text = fs::read(key).map(Secret::from_bytes);
        let text = text.map_err(|error| wrong("key", key, &error))?;
        let private = PrivateKeyDer::from_pem_slice(text.bytes());
        let private = private.map_err(|error| wrong("key", key, &error))?;
        let provider = Arc::new(ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider))
                .build()
                .map_err(|error| wrong("ca", authority, &error))?;
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("cert", chain, &error))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(own.clone(), private.clone_key())
            .map_err(|error| wrong("cert", chain, &error))?;
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("cert", chain, &error))?
            .with_root_certificates(roots)
            .with_client_auth_cert(own, private)
            .map_err(|error| wrong("cert", chain, &error))?;
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(server)),
            connector: TlsConnector::from(Arc::new(client)),
        })
    }

    /// Performs the TLS handshake of the called node.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<Box<dyn Duplex>> {
        Ok(Box::new(self.acceptor.accept(stream).await?))
    }

    /// Performs the TLS handshake of the calling node. The certificate of the called node has to be
    /// valid for `host`.
    pub(crate) async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<Box<dyn Duplex>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Box::new(self.connector.connect(name, stream).await?))
    }
}
