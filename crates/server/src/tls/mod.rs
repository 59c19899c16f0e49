//! TLS of the listeners: one certificate for all of them, which is read again while connections go on,
//! and what else each of them asks for. Which clients speak TLS is told in `opening`.
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
#[cfg(test)]
pub(crate) mod tests;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arc_swap::ArcSwap;
use cosmos::{Certificate, CurrentCertificate};
pub(crate) use files::find_damage;
pub(crate) use opening::{Opened, Opener};
pub(crate) use socket::Socket;
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

/// The listeners that are served here; the NoSQL API has its own code for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    /// The MongoDB API.
    Mongo,
    /// The admin address.
    Admin,
}

/// The certificate of a server and what its listeners speak TLS with.
pub(crate) struct Tls {
    source: Source,
    /// Whose certificates clients of the MongoDB API may show.
    authority: Option<PathBuf>,
    /// Whether each of them has to show one.
    required: bool,
    current: CurrentCertificate,
    mongo: ArcSwap<ServerConfig>,
    admin: ArcSwap<ServerConfig>,
}

impl Tls {
    /// Reads certificate, key and authority, and makes what is missing. `None`: nothing of the settings
    /// needs them. A failure names the setting or the file that is wrong.
    pub(crate) fn open(config: &Config) -> Result<Option<Arc<Self>>, Failure> {
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

    /// The certificate for the listener of the NoSQL API.
    pub(crate) fn current(&self) -> CurrentCertificate {
        self.current.clone()
    }

    /// Reads all files again. Connections from now on are served with them, those that have begun go on as
    /// they are. Files that cannot be used change nothing: the log says which, and why.
    pub(crate) fn reload(&self) {
        match self.read_again() {
            Ok(()) => tracing::info!("certificate and key were read again"),
            Err(why) => tracing::error!(why, "certificate and key stay as they were"),
        }
    }

    /// All of it or nothing.
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

    /// What turns an accepted socket of a listener into a stream of TLS.
    fn acceptor(&self, listener: Listener) -> TlsAcceptor {
        TlsAcceptor::from(match listener {
            Listener::Mongo => self.mongo.load_full(),
            Listener::Admin => self.admin.load_full(),
        })
    }
}

/// With what clients of the MongoDB API are served. An error is a sentence.
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
        return Err(wrong(&"it holds no certificate"));
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let verifier = if required { verifier } else { verifier.allow_unauthenticated() };
    let verifier = verifier.build().map_err(|error| wrong(&error))?;
    let mut config = builder.with_client_cert_verifier(verifier).with_cert_resolver(signing);
    // A session that is taken up again would not have its certificate checked again.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// With what clients of the admin address are served.
fn admin_config(certificate: &Certificate) -> Result<ServerConfig, String> {
    let mut config = mongo_config(certificate, None, false)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
