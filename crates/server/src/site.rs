//! What a process has whichever engine it serves: its settings, memory, temporary files, keys, the
//! addresses that it listens on, and the portal, which asks whichever doors are open.

use std::{io, path::Path, sync::Arc};

use audit::{Api, AuditLog, Event};
use auth::CurrentKeys;

use auth::Secret;
use memory::{Account, Plan};
use portal::Login;
use spill::Area;
use tokio::sync::watch;
use traces::SlowOperations;

use crate::{
    admin::{self, Pages},
    config::Config,
    data_dir::{DataDir, Refused},
    entrance::Bound,
    explorer::{Explorer, Ports},
    failure::{Failure, failed},
    figures::Figures,
    nosql,
    ready::Ready,
    reaping::Reaping,
    relayed::{Doors, RelayOnce},
    role_file::read_roles,
    shares::{open_accounts, temporary_area},
    tls::Tls,
    tracer::Traces,
};

/// What stays while engines come and go.
pub(crate) struct Site {
    pub(crate) config: Config,
    /// How the memory of the process is divided.
    pub(crate) plan: Plan,
    /// One account for both APIs: `--memory` bounds the process, not each of them.
    pub(crate) memory: Account,
    /// The part of it for clients before their first request.
    pub(crate) strangers: Account,
    /// Where sorts and groups put what they cannot hold; `None` without a data directory.
    pub(crate) files: Option<Area>,
    pub(crate) explorer: Arc<Explorer>,
    /// Whether reaping is paused.
    pub(crate) reaping: Arc<Reaping>,
    /// What the server did during the last day.
    pub(crate) figures: Arc<Figures>,
    /// Which operations are slow, and those of the last day; `None`: none is.
    pub(crate) slow: Option<Arc<SlowOperations>>,
    /// The keys of the account.
    pub(crate) account: CurrentKeys,
    /// Where logins, refusals and changes are written down; `None`: nowhere.
    pub(crate) audit: Option<Arc<AuditLog>>,
    /// What the listeners speak TLS with; `None`: none of them does.
    pub(crate) tls: Option<Arc<Tls>>,
    /// What the NoSQL API is opened with; `None`: it is off.
    pub(crate) nosql: Option<cosmos::Settings>,
    /// Where it listens.
    pub(crate) ready: Ready,
    /// The portal; `None`: the admin address is off.
    pub(crate) pages: Option<Arc<Pages>>,
    /// Whether the admin address asks who people are.
    pub(crate) login: Login,
    /// The doors that are open now. The portal asks them.
    pub(crate) doors: watch::Sender<Doors>,
    /// Where operations are traced to.
    pub(crate) traces: Traces,
    /// The way to the data of all shards, where there are several.
    pub(crate) elsewhere: RelayOnce,
}

/// Opens the audit log, and goes on behind its last line.
fn open_audit(path: &Path) -> Result<Arc<AuditLog>, Failure> {
    let opened = AuditLog::open(path);
    opened.map(Arc::new).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::Refused(Refused::Unusable(format!(
            "--audit-file: {error}: move it away to begin another"
        ))),
        _ => Failure::Usage(format!("--audit-file {}: {error}", path.display())),
    })
}

/// Says where the server listens.
fn ready_at(bound: &Bound) -> Ready {
    let mut ready = Ready::starting();
    ready.mongo = bound.mongo.as_ref().map(|taken| taken.address.to_string());
    ready.cosmos = bound.nosql.as_ref().map(|taken| taken.address.to_string());
    ready.admin = bound.admin.as_ref().map(|taken| taken.address.to_string());
    ready
}

impl Site {
    /// Reads the account's keys again; requests from now on are checked with them. A file that cannot be
    /// used changes nothing, and the log says why. Without a file the key is the public one for good.
    pub(crate) fn reload_keys(&self) {
        let Some(path) = &self.config.key_file else { return };
        match nosql::read_keys(Some(path)) {
            Ok(keys) if keys.are_well_known() && !self.account.load().are_well_known() => {
                tracing::error!(
                    "the keys stay as they were: the file has the key that everybody knows"
                );
            }
            Ok(keys) => {
                self.account.replace(keys);
                tracing::info!("the keys of the account were read again");
            }
            Err(error) => tracing::error!(%error, "the keys stay as they were"),
        }
    }

    /// Reads again who has which role. A file that cannot be used changes nothing, and the log says why.
    pub(crate) fn reload_roles(&self) {
        let (Some(file), Some(nosql)) = (&self.config.cosmos_roles, &self.nosql) else { return };
        match read_roles(Some(file)) {
            Ok(rules) => {
                nosql.tokens.store(Arc::new(rules));
                tracing::info!("the roles of the NoSQL API were read again");
            }
            Err(error) => tracing::error!(%error, "the roles stay as they were"),
        }
    }

    /// Writes down what the server itself did.
    pub(crate) fn note(&self, action: &str) {
        if let Some(audit) = &self.audit {
            let (api, object) = (Api::Server, env!("CARGO_PKG_VERSION"));
            audit.note(&Event { api, action, peer: "", user: None, object, outcome: 0 });
        }
    }

    /// Reads keys and certificates, and binds the addresses. `secret` signs the tokens of the NoSQL API;
    /// `None`: one of the data directory's own.
    pub(crate) async fn open(
        config: &Config,
        data_dir: Option<&DataDir>,
        secret: Option<Secret>,
        stopped: &watch::Receiver<bool>,
    ) -> Result<(Self, Bound), Failure> {
        let explorer = Explorer::open(config.explorer_dir.as_deref()).map_err(failed)?;
        let (plan, memory, strangers) = open_accounts(config);
        let files = data_dir.map(temporary_area).transpose().map_err(failed)?;
        let kept = data_dir.map(|directory| directory.path.as_path());
        // A node takes its copy as the owner has it: there nothing is paused.
        let own = kept.filter(|_| config.cluster.is_none());
        let reaping = Reaping::open(own).map_err(failed)?;
        let account = CurrentKeys::new(nosql::read_keys(config.key_file.as_deref())?);
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
        // Only now are all ports known: a port of 0 is chosen when it is bound.
        explorer.listens(Ports {
            admin: bound.admin.as_ref().map(|taken| taken.address.port()),
            nosql: bound.nosql.as_ref().map(|taken| taken.address.port()),
        });
        let doors = watch::Sender::new(Doors::default());
        let elsewhere = RelayOnce::default();
        let (pages, login) = match &bound.admin {
            Some(taken) => {
                let doors = (doors.subscribe(), elsewhere.clone());
                let stopped = stopped.clone();
                let made =
                    admin::build_portal(config, &account, taken.address, &ready, doors, stopped)?;
                (Some(made.0), made.1)
            }
            None => (None, Login::Refused),
        };
        let site = Self {
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
            doors,
            traces,
            elsewhere,
        };
        Ok((site, bound))
    }
}
