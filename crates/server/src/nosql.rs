//! Settings of the NoSQL API: keys and the token secret. The secret is generated if missing and
//! stored in the data directory; the keys are read from a file of the operator, or are the
//! emulator's well-known key. The certificate is shared by all listeners (`tls`).

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

use arc_swap::ArcSwap;
use auth::{CurrentKeys, Secret};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use cosmos::{CurrentCertificate, Hosts, Keys, NoSqlApi, Settings, Shard};
use engine::Engine;
use memory::Account;

use crate::{
    checksummed,
    config::{Config, TlsMode},
    data_dir::{Refused, SECRETS_FOLDER},
    explorer::{Explorer, ExplorerPages},
    failure::Failure,
    give_way::{give_way, run_apart},
    listen, machine,
    role_file::read_roles,
    tls,
};

/// File of the secret that signs continuation and resource tokens.
const SECRET: &str = "secret";
/// Bytes of the secret, which is a key for HMAC-SHA-256.
const SECRET_BYTES: usize = 32;
/// Bytes of a generated account key, as many as Azure's keys have.
const NEW_KEY_BYTES: usize = 64;
/// Mode bits for users other than the owner and group of a file.
const OTHERS: u32 = 0o007;

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

/// Returns the account's keys from the file, or the emulator's well-known key without a file.
/// Refuses a file that other users may read.
pub(crate) fn read_keys(file: Option<&Path>) -> Result<Keys, Failure> {
    let Some(file) = file else {
        return Keys::well_known().map_err(|error| failed("the key", error));
    };
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::Usage(format!("--key-file {}: {error}", file.display()))
    };
    let mode = fs::metadata(file).map_err(|error| wrong(&error))?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(wrong(&"it is readable by other users: chmod o-rwx it, and generate new keys"));
    }
    let text = fs::read_to_string(file).map(Secret::from_text).map_err(|error| wrong(&error))?;
    Keys::parse(text.text().unwrap_or_default()).map_err(|error| wrong(&error))
}

/// Returns the primary key of a key file, with which clients sign their requests.
pub fn first_key(file: &Path) -> Result<Secret, Failure> {
    Ok(Secret::from_text(read_keys(Some(file))?.primary().to_owned()))
}

/// Returns the text of a key file with four new keys, as `--key-file` reads it.
pub fn new_key_file() -> Result<Secret, Failure> {
    let mut text = String::from(
        "# Keys of the account, for --key-file. Only the server's user may read this file.\n",
    );
    for (name, for_whom) in [
        ("primary", "reads and writes"),
        ("secondary", "reads and writes, for key rotation"),
        ("primary-readonly", "reads"),
        ("secondary-readonly", "reads, for key rotation"),
    ] {
        let mut bytes = [0; NEW_KEY_BYTES];
        fill_randomly(&mut bytes).map_err(|error| failed("a new key", error))?;
        text.push_str(&format!("# {for_whom}\n{name} = {}\n", STANDARD.encode(bytes)));
    }
    Ok(Secret::from_text(text))
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

/// Returns 32 random bytes that need not stay secret.
pub(crate) fn random_bytes() -> io::Result<[u8; SECRET_BYTES]> {
    let mut bytes = [0; SECRET_BYTES];
    fill_randomly(&mut bytes)?;
    Ok(bytes)
}

/// Returns a random secret of 32 bytes.
pub(crate) fn random_secret() -> io::Result<Secret> {
    let mut bytes = vec![0; SECRET_BYTES];
    fill_randomly(&mut bytes)?;
    Ok(Secret::from_bytes(bytes))
}

/// Fills a buffer with random bytes; the system call may return fewer than requested.
fn fill_randomly(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(())
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
    fn new_keys_are_read_as_a_key_file_and_are_nobody_elses() {
        let (one, other) = (new_key_file().unwrap(), new_key_file().unwrap());
        let text = one.text().unwrap();
        let keys = Keys::parse(text).unwrap();
        assert!(!keys.are_well_known());
        let of = |text: &str| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.split_once(" = "));
            lines.map(|(_, key)| key.to_owned()).collect()
        };
        let mut all = [of(text), of(other.text().unwrap())].concat();
        assert_eq!((all.len(), all[0].as_str()), (8, keys.primary()));
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 8, "all are different");
    }

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
