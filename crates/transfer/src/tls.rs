//! Whose certificates are believed: those of one authority, or one certificate, as the flag `--tls-ca`
//! names it; without it those that the system believes (`SSL_CERT_FILE`, `SSL_CERT_DIR`, its own list).

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
    if found.is_empty() { Err(wrong(&"it holds no certificate")) } else { Ok(found) }
}

/// Those that the system believes. One of them that cannot be read does not matter as long as there are others.
fn certificates_of_system() -> Result<Vec<CertificateDer<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    match found.errors.first() {
        _ if !found.certs.is_empty() => Ok(found.certs),
        None => Err("the system believes no certificate: give --tls-ca".to_owned()),
        Some(error) => Err(format!("the system's certificates: {error}; give --tls-ca")),
    }
}

/// Why there is no answer, with what to do where the server's certificate is not believed.
pub fn with_advice(why: String) -> String {
    match why.contains("peer certificate") {
        true => format!("{why}; --tls-ca names the certificate or authority to believe"),
        false => why,
    }
}

/// What requests over HTTP encrypt with, and whom they believe; `None`: whom the system believes.
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

/// The same for a connection of its own.
pub(crate) fn client_config(path: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        let added = roots.add(certificate);
        // Of the system's some may be of kinds that nobody can check any more.
        if let (Err(error), Some(path)) = (added, path) {
            return Err(format!("--tls-ca {}: {error}", path.display()));
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
