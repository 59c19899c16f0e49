//! Trusted certificates: one authority or certificate given by `--tls-ca`, otherwise those of the
//! system (`SSL_CERT_FILE`, `SSL_CERT_DIR`, its own list).

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

fn certificates(path: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, String> {
    let Some(path) = path else { return certificates_of_system() };
    let wrong = |error: &dyn std::fmt::Display| format!("--tls-ca {}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| wrong(&error))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| wrong(&error))?;
    if found.is_empty() { Err(wrong(&"it contains no certificate")) } else { Ok(found) }
}

/// Loads the system's certificates. Unreadable ones are ignored as long as others can be read.
fn certificates_of_system() -> Result<Vec<CertificateDer<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    match found.errors.first() {
        _ if !found.certs.is_empty() => Ok(found.certs),
        None => Err("the system trusts no CA: give --tls-ca".to_owned()),
        Some(error) => {
            Err(format!("cannot load the system's certificates: {error}; give --tls-ca"))
        }
    }
}

/// Adds advice to the message about a failed request if the certificate was not trusted.
pub fn with_advice(why: String) -> String {
    match why.contains("peer certificate") {
        true => format!("{why}; give the certificate or CA to trust with --tls-ca"),
        false => why,
    }
}

/// Returns the TLS configuration for HTTP, which trusts this authority or, if `None`, the system's.
pub fn http_authority(path: Option<&Path>) -> Result<TlsConfig, String> {
    let found = certificates(path)?;
    let roots: Vec<_> =
        found.iter().map(|one| Certificate::from_der(one.as_ref()).to_owned()).collect();
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&roots))
        .build())
}

/// Returns a TLS configuration for HTTP that accepts any certificate, for reading the certificate of a
/// server that is not trusted yet.
pub fn http_without_verification() -> TlsConfig {
    TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .disable_verification(true)
        .build()
}

/// Returns the TLS configuration for the MongoDB API, which trusts this authority or, if `None`,
/// those of the system.
pub(crate) fn client_config(path: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        let added = roots.add(certificate);
        // Certificates of the system that cannot be used are skipped.
        if let (Err(error), Some(path)) = (added, path) {
            return Err(format!("--tls-ca {}: {error}", path.display()));
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
