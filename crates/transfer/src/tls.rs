//! Whose certificates are believed: those of one authority, or one certificate, as the flag `--tls-ca`
//! names it. The lists of browsers are not used.

use std::{path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("--tls-ca {}: {error}", path.display());
    let text = std::fs::read(path).map_err(|error| wrong(&error))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| wrong(&error))?;
    if found.is_empty() { Err(wrong(&"it holds no certificate")) } else { Ok(found) }
}

/// What requests over HTTP encrypt with, and whom they believe.
pub fn http_authority(path: &Path) -> Result<TlsConfig, String> {
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
pub(crate) fn client_config(path: &Path) -> Result<Arc<ClientConfig>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("--tls-ca {}: {error}", path.display());
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| wrong(&error))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
