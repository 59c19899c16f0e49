//! TLS of the listeners: one certificate for all, which can be reloaded while connections continue,
//! and the configuration of each listener. `opening` detects which clients use TLS.
//!
//! | listener | offers | asks for a certificate |
//! |---|---|---|
//! | MongoDB API | nothing by ALPN | with `--tls-client-ca` |
//! | NoSQL API | HTTP/2 and HTTP/1.1 | no |
//! | admin address | HTTP/1.1 | no |

mod files;
mod limited;
mod opening;
mod refusals;
mod socket;
mod subject;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arc_swap::ArcSwap;
use cosmos::{Certificate, CurrentCertificate};
pub use files::{find_damage, read_kept_certificate};
pub use opening::{ClientAcceptor, Opened};
pub use socket::Socket;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject},
        server::{NoServerSessionStorage, WebPkiClientVerifier},
        sign::SingleCertAndKey,
    },
};

use crate::{
    config::{ClientCertificates, Config, TlsMode},
    failure::{Failure, failed},
};
use files::Source;

/// The listeners served by this module; the NoSQL API has its own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    Mongo,
    Admin,
}

/// Certificate and TLS configurations of a server.
pub struct Tls {
    source: Source,
    /// Certificate authority for client certificates of the MongoDB API.
    authority: Option<PathBuf>,
    /// Whether client certificates are required.
    required: bool,
    current: CurrentCertificate,
    mongo: ArcSwap<ServerConfig>,
    admin: ArcSwap<ServerConfig>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads certificate, key and authority; generates a missing certificate. Returns `None` if no
    /// listener uses TLS. The error names the setting or file.
    pub fn open(config: &Config) -> Result<Option<Arc<Self>>, Failure> {
        let speaks = |address: &Option<String>, mode| address.is_some() && mode != TlsMode::Off;
        let is_needed = speaks(&config.cosmos_addr, config.cosmos_tls)
            || speaks(&config.mongo_addr, config.mongo_tls)
            || speaks(&config.admin_addr, config.admin_tls);
        if !is_needed {
            return Ok(None);
        }
        let source = Source::of(config)?;
        let certificate = source.open()?;
        let authority = config.tls_client_ca.clone();
        let required = config.tls_client_cert == ClientCertificates::Require;
        let mongo = mongo_config(&certificate, authority.as_deref(), required);
        let mongo = ArcSwap::from_pointee(mongo.map_err(Failure::Usage)?);
        let admin = ArcSwap::from_pointee(admin_config(&certificate).map_err(failed)?);
        let current = CurrentCertificate::new(certificate);
        Ok(Some(Arc::new(Self { source, authority, required, current, mongo, admin })))
    }

    /// Returns the certificate for the listener of the NoSQL API.
    pub fn current(&self) -> CurrentCertificate {
        self.current.clone()
    }

    /// Reloads certificate, key and authority. New connections use the reloaded files, existing
    /// connections are unaffected. Unusable files change nothing and are logged.
    pub fn reload(&self) {
        match self.read_again() {
            Ok(()) => tracing::info!("certificate and key reloaded"),
            Err(why) => {
                tracing::error!(why, "certificate and key not reloaded; the old ones stay in use")
            }
        }
    }

    /// Reloads certificate, key and authority; on an error, the current ones stay in use.
    fn read_again(&self) -> Result<(), String> {
        let certificate = match self.source.read() {
            Some(read) => read?,
            None => (*self.current.load()).clone(),
        };
        let mongo = mongo_config(&certificate, self.authority.as_deref(), self.required)?;
        let admin = admin_config(&certificate)?;
        self.mongo.store(Arc::new(mongo));
        self.admin.store(Arc::new(admin));
        self.current.replace(certificate);
        Ok(())
    }

    /// Returns the TLS acceptor of a listener.
    fn acceptor(&self, listener: Listener) -> TlsAcceptor {
        TlsAcceptor::from(match listener {
            Listener::Mongo => self.mongo.load_full(),
            Listener::Admin => self.admin.load_full(),
        })
    }
}

/// Builds the TLS configuration of the MongoDB API. The error is a sentence.
fn mongo_config(
    certificate: &Certificate,
    authority: Option<&Path>,
    required: bool,
) -> Result<ServerConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let signing = Arc::new(SingleCertAndKey::from(certificate.signing()));
    let Some(path) = authority else {
        return Ok(builder.with_no_client_auth().with_cert_resolver(signing));
    };
    let wrong =
        |error: &dyn std::fmt::Display| format!("--tls-client-ca {}: {error}", path.display());
    let read = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&error))?;
    let mut roots = RootCertStore::empty();
    for root in read {
        roots.add(root).map_err(|error| wrong(&error))?;
    }
    if roots.is_empty() {
        return Err(wrong(&"it contains no certificate"));
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let verifier = if required { verifier } else { verifier.allow_unauthenticated() };
    let verifier = verifier.build().map_err(|error| wrong(&error))?;
    let mut config = builder.with_client_cert_verifier(verifier).with_cert_resolver(signing);
    // A resumed session would not verify the client's certificate again.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Builds the TLS configuration of the admin address.
fn admin_config(certificate: &Certificate) -> Result<ServerConfig, String> {
    let mut config = mongo_config(certificate, None, false)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
