//! What the NoSQL API is opened with: keys, the secret of its tokens, the certificate. Secret and
//! certificate are made when they are missing and kept in the data directory, keys are given by the
//! operator or public.

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

use cosmos::{Certificate, Door, Hosts, Keys, Settings, Shard};
use engine::Engine;
use memory::Account;

use crate::{
    any_store::AnyStore,
    config::Config,
    data_dir::Refused,
    explorer::{AtDoor, Explorer},
    failure::Failure,
    give_way::{give_way, run_apart},
    listen, sealed,
};

/// Folder of these files in a data directory.
const FOLDER: &str = "nosql";
/// File of the secret by which the API signs its continuation and resource tokens.
const SECRET: &str = "secret";
/// Bytes of the secret: of the key of HMAC-SHA-256.
const SECRET_BYTES: usize = 32;
/// File of the certificate, PEM, with a checksum when this server made it.
const CERTIFICATE: &str = "certificate.pem";
/// File of the certificate's private key, PEM.
const KEY: &str = "key.pem";
/// The bits of a file's mode that say what others than its owner and its group may do.
const OTHERS: u32 = 0o007;

fn failed(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::Failed(format!("{what}: {error}"))
}

/// A file that is kept in the data directory is damaged, or cannot be read or written.
fn not_kept(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::InvalidData => Failure::Refused(Refused::Unusable(error.to_string())),
        _ => failed("the secret of tokens", error),
    }
}

/// Reads what the API is opened with: keys, secret and certificate; makes what is missing. Refuses to
/// serve other machines with the public key. `secret` signs tokens; `None`: one of the data
/// directory's own.
pub(crate) async fn read_settings(
    config: &Config,
    address: &str,
    secret: Option<[u8; SECRET_BYTES]>,
    (memory, strangers): (&Account, &Account),
    explorer: &Arc<Explorer>,
) -> Result<Settings, Failure> {
    let keys = read_keys(config.key_file.as_deref())?;
    if keys.are_well_known() && !listen::is_loopback(address).await {
        return Err(Failure::Usage(format!(
            "--cosmos-addr {address} can be reached by other machines, and everybody knows the key \
             that is used when none is given: give a --key-file, or listen on 127.0.0.1"
        )));
    }
    let folder = config.data_dir.as_ref().map(|path| path.join(FOLDER));
    if let Some(folder) = &folder {
        fs::create_dir_all(folder).map_err(|error| failed("make the folder of keys", error))?;
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
        siblings: None,
        opened: Arc::default(),
        endpoint: config.account_endpoint.clone(),
        keys,
        secret,
        certificate: Some(read_certificate(config, folder.as_deref())?),
        strangers: strangers.clone(),
        memory: memory.clone(),
        give_way,
        run_apart,
        enforce_throughput: config.enforce_throughput,
        pages: Some(Arc::new(AtDoor(Arc::clone(explorer)))),
    })
}

/// Makes the API ready to serve connections; finishes changes that an earlier process left half done.
pub(crate) async fn open_door(
    engine: Engine<AnyStore>,
    settings: Settings,
) -> Result<Arc<Door<AnyStore>>, Failure> {
    let door =
        Door::new(engine, settings).map_err(|error| failed("the secret of tokens", error))?;
    // On a full disk this has to wait for another start; this one serves what there is.
    if let Err(error) = door.mend().await {
        tracing::warn!(%error, "mend the offers of containers");
    }
    Ok(door)
}

/// Returns the host names that the API answers to. With the public key any page of any web site
/// could call it from a browser on this machine, once the site's name points here (DNS rebinding);
/// the names that are known to mean this server are the guard.
fn allowed_hosts(config: &Config, address: &str) -> Hosts {
    let mut names = config.cosmos_hosts.clone();
    names.push(node_name());
    names.extend(address.rsplit_once(':').map(|(host, _)| host.to_owned()));
    let endpoint = config.account_endpoint.as_deref().and_then(|url| url.split_once("://"));
    let host = endpoint.map(|(_, host)| host.trim_end_matches('/'));
    names.extend(host.map(|host| host.split(':').next().unwrap_or(host).to_owned()));
    Hosts::new(&names)
}

/// Returns the keys of the account: of the file, or the public one. Refuses a file that everybody on
/// the machine may read.
pub(crate) fn read_keys(file: Option<&Path>) -> Result<Keys, Failure> {
    let Some(file) = file else {
        return Keys::well_known().map_err(|error| failed("the key", error));
    };
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::Usage(format!("--key-file {}: {error}", file.display()))
    };
    let mode = fs::metadata(file).map_err(|error| wrong(&error))?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(wrong(&"others may read it: chmod o-rwx it, and make new keys"));
    }
    let text = fs::read_to_string(file).map_err(|error| wrong(&error))?;
    Keys::parse(&text).map_err(|error| wrong(&error))
}

/// Returns the first key of a key file: the one that clients are given.
pub fn first_key(file: &Path) -> Result<String, Failure> {
    Ok(read_keys(Some(file))?.primary().to_owned())
}

/// Returns the secret of tokens, which is made and kept at the first start. Without a folder it is
/// new at each start, and with it all tokens. A damaged one is refused: replacing it silently would
/// end all tokens without a word.
fn read_secret(folder: Option<&Path>) -> io::Result<[u8; SECRET_BYTES]> {
    let Some(folder) = folder else { return random_bytes() };
    match sealed::read_sealed(&folder.join(SECRET)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = random_bytes()?;
            sealed::write_sealed(folder, SECRET, &made)?;
            Ok(made)
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let text = format!("{error}: restore it, or remove it to have all tokens end");
            Err(io::Error::new(error.kind(), text))
        }
        read => read,
    }
}

/// Returns 32 bytes from the system's generator, which may return fewer at once than asked for.
pub(crate) fn random_bytes() -> io::Result<[u8; SECRET_BYTES]> {
    let mut bytes = [0; SECRET_BYTES];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Returns the certificate for TLS: of the settings, else the kept one, else a self-signed one that
/// is made and kept, so that clients which trust it need to do so only once.
fn read_certificate(config: &Config, folder: Option<&Path>) -> Result<Certificate, Failure> {
    let what = "the certificate of TLS";
    let wrong = |error: &dyn std::fmt::Display| failed(what, error);
    let read = |certificate: &Path, key: &Path| -> Result<Certificate, Failure> {
        let text = |path: &Path| {
            sealed::read_text(path).map_err(|error| failed(&path.display().to_string(), error))
        };
        Certificate::from_pem(text(certificate)?, text(key)?).map_err(|error| wrong(&error))
    };
    match (&config.tls_cert, &config.tls_key) {
        (Some(certificate), Some(key)) => {
            return read(certificate, key).map_err(|failure| Failure::Usage(failure.to_string()));
        }
        (None, None) => {}
        _ => return Err(wrong(&"--tls-cert and --tls-key belong together")),
    }
    let kept = folder.map(|folder| (folder.join(CERTIFICATE), folder.join(KEY)));
    if let Some((certificate, key)) = &kept
        && certificate.exists()
        && key.exists()
    {
        return read(certificate, key).map_err(|failure| {
            let text = format!("{failure}; remove certificate.pem and key.pem to have them made");
            Failure::Refused(Refused::Unusable(text))
        });
    }
    let made = Certificate::make_self_signed(&node_name()).map_err(|error| wrong(&error))?;
    if let Some(folder) = folder {
        // The certificate goes last: it says that both are there.
        sealed::write_text(folder, KEY, made.key()).map_err(|error| wrong(&error))?;
        let text = made.certificate();
        sealed::write_text(folder, CERTIFICATE, text).map_err(|error| wrong(&error))?;
    }
    Ok(made)
}

/// Returns what is wrong with the files of the API in a data directory that no server has open, as
/// sentences. Missing files are not damage: they are made at the next start.
pub(crate) fn find_damage(data_dir: &Path) -> Vec<String> {
    let folder = data_dir.join(FOLDER);
    let secret = sealed::read_sealed::<SECRET_BYTES>(&folder.join(SECRET)).map(drop);
    let texts = [CERTIFICATE, KEY].map(|name| sealed::read_text(&folder.join(name)).map(drop));
    let wrong = [secret].into_iter().chain(texts).filter_map(Result::err);
    let damaged = wrong.filter(|error| error.kind() == io::ErrorKind::InvalidData);
    damaged.map(|error| error.to_string()).collect()
}

/// Returns the machine's name, as the system has it.
pub(crate) fn node_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_and_certificate_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let first = read_secret(Some(folder.path())).unwrap();
        assert_eq!(read_secret(Some(folder.path())).unwrap(), first);
        assert_ne!(read_secret(None).unwrap(), first);
        let config = Config::for_tests();
        let made = read_certificate(&config, Some(folder.path())).unwrap();
        let again = read_certificate(&config, Some(folder.path())).unwrap();
        assert_eq!(again.certificate(), made.certificate());
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
