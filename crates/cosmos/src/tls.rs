//! The certificate of the server: made by itself where nobody gave one, and replaced by another while
//! connections go on. Where the two texts are kept is the server's business, and so is what else it
//! speaks TLS with.
//!
//! The same settings serve every connection; they offer HTTP/2 and HTTP/1.1, and ask for no
//! certificate of the client.

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

/// What HTTP/2 is called when client and server agree on it (ALPN).
pub(crate) const HTTP2: &[u8] = b"h2";

/// Why there is no certificate, for people.
#[derive(Clone, Debug)]
pub struct NoCertificate(String);

impl fmt::Display for NoCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoCertificate {}

/// The error of any of the steps, as a text.
fn certificate_error(error: impl fmt::Display) -> NoCertificate {
    NoCertificate(error.to_string())
}

/// A certificate and its key. It is shown as a name alone. The library of TLS keeps a copy of the key in
/// a form of its own.
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
    /// Makes a certificate that is signed by itself, for this machine under all its names.
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

    /// Reads both from their texts in PEM; they have to fit each other.
    pub fn from_pem(certificate: String, key: Secret) -> Result<Self, NoCertificate> {
        let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
        let chain = chain.collect::<Result<Vec<_>, _>>().map_err(certificate_error)?;
        if chain.is_empty() {
            return Err(NoCertificate("there is no certificate in the text".to_owned()));
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

    /// The certificate's text in PEM; clients fetch it to trust the server.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// The key's text in PEM. It is for the server, which keeps it with the data.
    pub fn key(&self) -> &Secret {
        &self.key
    }

    /// The chain with what signs for it, for other listeners of the server.
    pub fn signing(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.signing)
    }
}

/// The certificate that is in use. It is cloned for each listener, and all of them show the one that it
/// was replaced by last; a connection that has begun goes on with the one that it was shown.
#[derive(Clone)]
pub struct CurrentCertificate(Arc<ArcSwap<Certificate>>);

impl fmt::Debug for CurrentCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CurrentCertificate")
    }
}

impl CurrentCertificate {
    /// Uses this one at first.
    pub fn new(certificate: Certificate) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(certificate)))
    }

    /// The one that is in use now.
    pub fn load(&self) -> Arc<Certificate> {
        self.0.load_full()
    }

    /// Has connections from now on shown another one.
    pub fn replace(&self, certificate: Certificate) {
        self.0.store(Arc::new(certificate));
    }

    /// What turns an accepted socket into a stream of TLS. It is made for each connection and
    /// shares the settings.
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
