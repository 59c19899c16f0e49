//! The server's TLS certificate: self-signed if none is configured, and replaceable while
//! connections are open. The server program stores certificate and key.
//!
//! All connections use the same settings: HTTP/2 and HTTP/1.1 are offered, and no client
//! certificate is requested.

use std::{fmt, sync::Arc};

use arc_swap::ArcSwap;
use auth::Secret;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
        sign::{CertifiedKey, SingleCertAndKey},
    },
};
use zeroize::Zeroize;

/// ALPN protocol name of HTTP/2.
pub(crate) const HTTP2: &[u8] = b"h2";

/// The error message if a certificate cannot be used.
#[derive(Clone, Debug)]
pub struct NoCertificate(String);

impl fmt::Display for NoCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoCertificate {}

/// Converts the error of any step to a message.
fn certificate_error(error: impl fmt::Display) -> NoCertificate {
    NoCertificate(error.to_string())
}

/// A certificate and its key. `Debug` prints only the type name. The TLS library keeps another copy
/// of the key.
#[derive(Clone)]
pub struct Certificate {
    certificate: String,
    key: Secret,
    signing: Arc<CertifiedKey>,
    config: Arc<ServerConfig>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}

impl Certificate {
    /// Creates a self-signed certificate for `machine` and the other names under which clients
    /// reach this machine.
    pub fn make_self_signed(machine: &str) -> Result<Self, NoCertificate> {
        let mut names: Vec<String> =
            ["localhost", "127.0.0.1", "::1"].iter().map(|name| (*name).to_owned()).collect();
        if !machine.is_empty() && machine.is_ascii() && !names.iter().any(|name| name == machine) {
            names.push(machine.to_owned());
        }
        let mut params = CertificateParams::new(names).map_err(certificate_error)?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "localhost");
        let mut key = KeyPair::generate().map_err(certificate_error)?;
        let made = params.self_signed(&key).map_err(certificate_error)?;
        let text = Secret::from_text(key.serialize_pem());
        key.zeroize();
        Self::from_pem(made.pem(), text)
    }

    /// Reads a certificate chain and its key from PEM texts; the key must match the certificate.
    pub fn from_pem(certificate: String, key: Secret) -> Result<Self, NoCertificate> {
        let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
        let chain = chain.collect::<Result<Vec<_>, _>>().map_err(certificate_error)?;
        if chain.is_empty() {
            return Err(NoCertificate("no certificate found".to_owned()));
        }
        let private = PrivateKeyDer::from_pem_slice(key.bytes()).map_err(certificate_error)?;
        let provider = Arc::new(ring::default_provider());
        let signing = CertifiedKey::from_der(chain, private, &provider);
        let signing = Arc::new(signing.map_err(certificate_error)?);
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(certificate_error)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(&signing))));
        config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        Ok(Self { certificate, key, signing, config: Arc::new(config) })
    }

    /// Returns the certificate in PEM; clients download it to trust the server.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns the key in PEM, so that the caller can store it with the data.
    pub fn key(&self) -> &Secret {
        &self.key
    }

    /// Returns the certificate chain with its signing key, for other listeners of the server.
    pub fn signing(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.signing)
    }
}

/// The certificate in use. Clones share it, so a change applies to all listeners. Existing
/// connections keep the certificate of their handshake.
#[derive(Clone)]
pub struct CurrentCertificate(Arc<ArcSwap<Certificate>>);

impl fmt::Debug for CurrentCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CurrentCertificate")
    }
}

impl CurrentCertificate {
    /// Creates a replaceable certificate with this initial value.
    pub fn new(certificate: Certificate) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(certificate)))
    }

    /// Returns the certificate in use.
    pub fn load(&self) -> Arc<Certificate> {
        self.0.load_full()
    }

    /// Replaces the certificate for new connections.
    pub fn replace(&self, certificate: Certificate) {
        self.0.store(Arc::new(certificate));
    }

    /// Returns an acceptor for a new connection. All acceptors share the settings.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.load().config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_can_be_kept_and_read_again() {
        for machine in ["box", "", "localhost", "日本"] {
            let made = Certificate::make_self_signed(machine).unwrap();
            let (certificate, key) = (made.certificate().to_owned(), made.key().clone());
            assert!(certificate.starts_with("-----BEGIN CERTIFICATE-----"));
            assert!(key.text().unwrap().starts_with("-----BEGIN PRIVATE KEY-----"));
            assert_eq!(format!("{made:?}"), "Certificate");
            Certificate::from_pem(certificate, key).unwrap();
        }
        let (one, other) = (
            Certificate::make_self_signed("").unwrap(),
            Certificate::make_self_signed("").unwrap(),
        );
        let mixed = Certificate::from_pem(one.certificate().to_owned(), other.key().clone());
        assert!(mixed.is_err(), "the key of another");
        assert!(Certificate::from_pem(String::new(), one.key().clone()).is_err());
        assert!(
            Certificate::from_pem(one.certificate().to_owned(), Secret::from_text(String::new()))
                .is_err()
        );
    }
}
