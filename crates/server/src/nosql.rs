//! Settings of the NoSQL API: keys and the token secret. The secret is generated if missing and
//! stored in the data directory; the keys are read from a file of the operator, or are the
//! emulator's well-known key. The certificate is shared by all listeners (`tls`).

use std::{fs, io, path::Path, sync::Arc};

use admin::explorer::{Explorer, ExplorerPages};
use arc_swap::ArcSwap;
use auth::{CurrentKeys, Secret};
use cosmos::{CurrentCertificate, DirectMode, Hosts, NoSqlApi, Settings, Shard};
use engine::Engine;
use memory::Account;
use server_base::{
    checksummed,
    config::{Config, TlsMode},
    data_dir::{Refused, SECRETS_FOLDER},
    failure::Failure,
    listen, machine,
    random::random_secret,
    tls,
};

use crate::{
    give_way::{give_way, run_apart},
    role_file::read_roles,
};

/// File of the secret that signs continuation and resource tokens.
const SECRET: &str = "secret";
/// Bytes of the secret, which is a key for HMAC-SHA-256.
const SECRET_BYTES: usize = 32;

fn failed(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("{what}: {error}"))
}

/// Converts an error of a file in the data directory. A damaged file refuses the start.
fn not_kept(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::InvalidData => Failure::Refused(Refused::Unusable(error.to_string())),
        _ => failed("the secret of tokens", error),
    }
}

/// Returns the API's settings; generates the token secret if missing. Refuses to serve other
/// machines with the emulator's well-known key. `secret` signs tokens; `None` uses the data
/// directory's own.
pub(crate) async fn read_settings(
    config: &Config,
    address: &str,
    account: &CurrentKeys,
    (secret, certificate): (Option<Secret>, Option<CurrentCertificate>),
    (memory, strangers): (&Account, &Account),
    explorer: &Arc<Explorer>,
) -> Result<Settings, Failure> {
    let keys = account.load();
    if keys.are_well_known() && !listen::is_loopback(address).await {
        return Err(Failure::Usage(format!(
            "--cosmos-addr {address} can be reached by other machines, and the default key is \
             public: give a --key-file, or listen on 127.0.0.1"
        )));
    }
    let folder = config.data_dir.as_ref().map(|path| path.join(SECRETS_FOLDER));
    if let Some(folder) = &folder {
        fs::create_dir_all(folder).map_err(|error| failed("create the key directory", error))?;
    }
    let hosts = keys.are_well_known().then(|| allowed_hosts(config, address));
    let secret = match secret {
        Some(secret) => secret,
        None => read_secret(folder.as_deref()).map_err(not_kept)?,
    };
    Ok(Settings {
        hosts,
        account: "localhost".to_owned(),
        shard: Shard::default(),
        other_shards: None,
        opened: Arc::default(),
        endpoint: config.account_endpoint.clone(),
        keys: account.clone(),
        tokens: Arc::new(ArcSwap::from_pointee(read_roles(config.cosmos_roles.as_deref())?)),
        secret,
        certificate: certificate.filter(|_| config.cosmos_tls != TlsMode::Off),
        needs_tls: config.cosmos_tls == TlsMode::Require,
        direct: config
            .serves_direct_mode()
            .then(|| DirectMode { advertise: config.cosmos_direct_advertise.clone() }),
        unknown_clients: strangers.clone(),
        memory: memory.clone(),
        give_way,
        block_in_place: run_apart,
        audit: None,
        tracer: None,
        slow: None,
        max_time: config.limits.max_time,
        max_body_bytes: config.limits.max_body_bytes.unwrap_or(*cosmos::BODY_BYTES.end()),
        enforce_throughput: config.enforce_throughput,
        pages: Some(Arc::new(ExplorerPages(Arc::clone(explorer)))),
    })
}

/// Creates the API's server object, and finishes changes that an earlier process left incomplete.
pub(crate) async fn open_api(engine: Engine, settings: Settings) -> Result<Arc<NoSqlApi>, Failure> {
    let api =
        NoSqlApi::new(engine, settings).map_err(|error| failed("the secret of tokens", error))?;
    // Fails on a full disk, for example. The server starts all the same, and the next start repeats
    // the repair.
    if let Err(error) = api.mend().await {
        tracing::warn!(%error, "repair the offers of containers");
    }
    Ok(api)
}

/// Returns the host names that the API accepts. While the server uses the emulator's well-known
/// key, a page of any web site could call the API from a browser on this machine by DNS rebinding;
/// accepting only the server's own names prevents that.
fn allowed_hosts(config: &Config, address: &str) -> Hosts {
    let mut names = config.cosmos_hosts.clone();
    names.push(machine::node_name());
    names.extend(address.rsplit_once(':').map(|(host, _)| host.to_owned()));
    let endpoint = config.account_endpoint.as_deref().and_then(|url| url.split_once("://"));
    let host = endpoint.map(|(_, host)| host.trim_end_matches('/'));
    names.extend(host.map(|host| host.split(':').next().unwrap_or(host).to_owned()));
    Hosts::new(&names)
}

/// Returns the token secret, generated and stored at the first start. Without a folder it is new at
/// each start, which invalidates all tokens. A damaged one is refused: replacing it would silently
/// invalidate all tokens.
fn read_secret(folder: Option<&Path>) -> io::Result<Secret> {
    let Some(folder) = folder else { return random_secret() };
    match checksummed::read_checksummed(&folder.join(SECRET), SECRET_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = random_secret()?;
            checksummed::write_checksummed(folder, SECRET, made.bytes())?;
            Ok(made)
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let text = format!("{error}: restore it, or remove it to invalidate all tokens");
            Err(io::Error::new(error.kind(), text))
        }
        read => read,
    }
}

/// Returns a description of damage to the API's files in a data directory that no server has open.
/// Missing files are not damage: the next start creates them.
pub(crate) fn find_damage(data_dir: &Path) -> Vec<String> {
    let path = data_dir.join(SECRETS_FOLDER).join(SECRET);
    let secret = checksummed::read_checksummed(&path, SECRET_BYTES).map(drop);
    let damaged = secret.err().filter(|error| error.kind() == io::ErrorKind::InvalidData);
    let damaged = damaged.into_iter().chain(tls::find_damage(data_dir));
    damaged.map(|error| error.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let first = read_secret(Some(folder.path())).unwrap();
        assert_eq!(read_secret(Some(folder.path())).unwrap(), first);
        assert_ne!(read_secret(None).unwrap(), first);
        fs::write(folder.path().join("secret"), b"short").unwrap();
        assert!(read_secret(Some(folder.path())).is_err());
    }

    #[test]
    fn the_key_that_everybody_knows_stays_on_this_machine() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let start = |address: &str| {
            let config = Config { cosmos_addr: Some(address.to_owned()), ..Config::for_tests() };
            runtime.block_on(async {
                match crate::serve::start(&config).await {
                    Ok(running) => running
                        .stop()
                        .await
                        .map_or_else(|error| error.to_string(), |()| "fine".to_owned()),
                    Err(error) => error.to_string(),
                }
            })
        };
        assert_eq!(start("127.0.0.1:0"), "fine");
        let refused = start("0.0.0.0:0");
        assert!(refused.contains("--key-file"), "{refused}");
    }
}
