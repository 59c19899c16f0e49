//! State of a process that is independent of the engines it serves: settings, memory, temporary
//! files, keys, listen addresses, and the portal, which calls whichever APIs are open.

use std::{io, path::Path, sync::Arc};

use audit::{Api, AuditLog, Event};
use auth::CurrentKeys;

use admin::{
    explorer::{Explorer, Ports},
    figures::Figures,
    pages::{Pages, build_portal},
    reaping::Reaping,
    relayed::{Apis, RelayOnce},
};
use auth::Secret;
use memory::{Account, Plan};
use portal::Login;
use server_base::{
    config::Config,
    data_dir::{DataDir, Refused},
    entrance::Bound,
    failure::{Failure, failed},
    key_file,
    ready::Ready,
    tls::Tls,
};
use spill::Area;
use tokio::sync::watch;
use traces::SlowOperations;

use crate::{
    nosql,
    role_file::read_roles,
    shares::{open_accounts, temporary_area},
    tracer::Traces,
};

/// State of the process that exists longer than its engines.
pub struct ServerContext {
    /// Configuration of the server, with the clock of its cluster.
    pub config: Config,
    /// Division of the process's memory.
    pub plan: Plan,
    /// The memory account of both APIs together, since `--memory` bounds the process.
    pub memory: Account,
    /// Sub-account for clients before their first request.
    pub strangers: Account,
    /// Spill area of sorts and groups; `None` without a data directory.
    pub(crate) files: Option<Area>,
    /// The pages of another project's data explorer.
    pub(crate) explorer: Arc<Explorer>,
    /// Whether the reaper is paused, and since when.
    pub(crate) reaping: Arc<Reaping>,
    /// Statistics of the last day.
    pub(crate) figures: Arc<Figures>,
    /// Slow operations of the last day; `None` if disabled.
    pub(crate) slow: Option<Arc<SlowOperations>>,
    /// Keys of the NoSQL API's account.
    pub(crate) account: CurrentKeys,
    /// Audit log of logins, refusals and changes; `None` if disabled.
    pub(crate) audit: Option<Arc<AuditLog>>,
    /// TLS configuration of the listeners; `None` if TLS is off for all of them.
    pub(crate) tls: Option<Arc<Tls>>,
    /// Settings of the NoSQL API; `None` if the API is off.
    pub nosql: Option<cosmos::Settings>,
    /// Addresses at which the server accepts connections.
    pub ready: Ready,
    /// The portal; `None` if the admin address is off.
    pub pages: Option<Arc<Pages>>,
    /// Authentication of the admin address.
    pub login: Login,
    /// The APIs that this process serves now, through which the portal reaches the data.
    pub(crate) apis: watch::Sender<Apis>,
    /// Exporter of traces to a collector.
    pub(crate) traces: Traces,
    /// Forwards requests to the owners of all shards, if the cluster has several.
    pub shard_relay: RelayOnce,
}

impl std::fmt::Debug for ServerContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerContext").field("ready", &self.ready).finish_non_exhaustive()
    }
}

/// Opens the audit log for appending.
fn open_audit(path: &Path) -> Result<Arc<AuditLog>, Failure> {
    let opened = AuditLog::open(path);
    opened.map(Arc::new).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::Refused(Refused::Unusable(format!(
            "--audit-file: {error}: move it away to start a new one"
        ))),
        _ => Failure::Usage(format!("--audit-file {}: {error}", path.display())),
    })
}

fn ready_at(bound: &Bound) -> Ready {
    let mut ready = Ready::starting();
    ready.mongo = bound.mongo.as_ref().map(|taken| taken.address.to_string());
    ready.cosmos = bound.nosql.as_ref().map(|taken| taken.address.to_string());
    ready.admin = bound.admin.as_ref().map(|taken| taken.address.to_string());
    ready
}

impl ServerContext {
    /// Reloads the account's keys for new requests. An unusable file changes nothing and is logged.
    /// Without a file the emulator's well-known key stays in use.
    pub(crate) fn reload_keys(&self) {
        let Some(path) = &self.config.key_file else { return };
        match key_file::read_keys(Some(path)) {
            Ok(keys) if keys.are_well_known() && !self.account.load().are_well_known() => {
                tracing::error!(
                    "account keys not reloaded: the file contains the public emulator key"
                );
            }
            Ok(keys) => {
                self.account.replace(keys);
                tracing::info!("account keys reloaded");
            }
            Err(error) => {
                tracing::error!(%error, "account keys not reloaded; the old ones stay in use")
            }
        }
    }

    /// Reloads the token roles. An unusable file changes nothing and is logged.
    pub(crate) fn reload_roles(&self) {
        let (Some(file), Some(nosql)) = (&self.config.cosmos_roles, &self.nosql) else { return };
        match read_roles(Some(file)) {
            Ok(rules) => {
                nosql.tokens.store(Arc::new(rules));
                tracing::info!("NoSQL API roles reloaded");
            }
            Err(error) => {
                tracing::error!(%error, "NoSQL API roles not reloaded; the old ones stay in use")
            }
        }
    }

    /// Writes an action of the server itself to the audit log.
    pub fn note(&self, action: &str) {
        if let Some(audit) = &self.audit {
            let (api, object) = (Api::Server, env!("CARGO_PKG_VERSION"));
            audit.note(&Event { api, action, peer: "", user: None, object, outcome: 0 });
        }
    }

    /// Reads keys and certificates, and binds the addresses. `secret` signs the tokens of the NoSQL
    /// API; `None` uses the data directory's own.
    pub async fn open(
        config: &Config,
        data_dir: Option<&DataDir>,
        secret: Option<Secret>,
        stopped: &watch::Receiver<bool>,
    ) -> Result<(Self, Bound), Failure> {
        let explorer = Explorer::open(config.explorer_dir.as_deref()).map_err(failed)?;
        let (plan, memory, strangers) = open_accounts(config);
        let files = data_dir.map(temporary_area).transpose().map_err(failed)?;
        let kept = data_dir.map(|directory| directory.path.as_path());
        // Reaping cannot be paused in a cluster: other nodes remove expired documents, too.
        let own = kept.filter(|_| config.cluster.is_none());
        let reaping = Reaping::open(own).map_err(failed)?;
        let account = CurrentKeys::new(key_file::read_keys(config.key_file.as_deref())?);
        let audit = config.audit_file.as_deref().map(open_audit).transpose()?;
        let tls = Tls::open(config)?;
        let traces = Traces::open(config)?;
        let slow = config.limits.slow_ms.map(|ms| Arc::new(SlowOperations::new(ms)));
        let nosql = match &config.cosmos_addr {
            Some(address) => {
                let accounts = (&memory, &strangers);
                let secrets = (secret, tls.as_ref().map(|tls| tls.current()));
                let read =
                    nosql::read_settings(config, address, &account, secrets, accounts, &explorer);
                let (audit, tracer, slow) = (audit.clone(), traces.tracer(), slow.clone());
                Some(cosmos::Settings { audit, tracer, slow, ..read.await? })
            }
            None => None,
        };
        let bound = Bound::bind(config, tls.as_ref(), &strangers).await?;
        let ready = ready_at(&bound);
        // The ports are known only after binding, which replaces port 0.
        explorer.listens(Ports {
            admin: bound.admin.as_ref().map(|taken| taken.address.port()),
            nosql: bound.nosql.as_ref().map(|taken| taken.address.port()),
        });
        let apis = watch::Sender::new(Apis::default());
        let shard_relay = RelayOnce::default();
        let (pages, login) = match &bound.admin {
            Some(taken) => {
                let apis = (apis.subscribe(), shard_relay.clone());
                let stopped = stopped.clone();
                let made = build_portal(config, &account, taken.address, &ready, apis, stopped)?;
                (Some(made.0), made.1)
            }
            None => (None, Login::Refused),
        };
        let context = Self {
            config: config.clone(),
            plan,
            memory,
            strangers,
            files,
            explorer,
            reaping,
            figures: Arc::new(Figures::new(own, slow.as_ref())),
            slow,
            account,
            audit,
            tls,
            nosql,
            ready,
            pages,
            login,
            apis,
            traces,
            shard_relay,
        };
        Ok((context, bound))
    }
}
