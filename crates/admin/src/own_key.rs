//! The admin key of a server whose MongoDB API requires logins but whose account has only the
//! emulator's well-known key: without an admin key, anyone who reaches the portal would have access
//! to the data for which the API requires a login. It is generated once and stored in the data
//! directory, readable by its owner. In a cluster it is derived from the cluster's secret, so that
//! all nodes accept the same key on forwarded requests.

use std::{io, path::PathBuf};

use auth::{CurrentKeys, Key};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use cosmos::Keys;
use server_base::{
    checksummed,
    config::Config,
    data_dir::Refused,
    failure::{Failure, failed},
    random,
};

/// File in the data directory, in the format of `--key-file` for `ebb admin`.
const FILE: &str = "admin.key";

/// Returns the path of the key file; `None` if the server has no such key.
pub fn path(config: &Config) -> Option<PathBuf> {
    let folder = config.data_dir.as_ref().filter(|_| needs_key(config))?;
    Some(folder.join(FILE))
}

fn needs_key(config: &Config) -> bool {
    config.mongo_auth && config.key_file.is_none()
}

/// Returns the keys accepted at the admin address: the account's, or the server's own admin key.
/// Without a data directory that key is random and unknown to everyone.
pub(crate) fn portal_keys(config: &Config, account: &CurrentKeys) -> Result<CurrentKeys, Failure> {
    match needs_key(config) {
        true => read_own(config).map(CurrentKeys::new),
        false => Ok(account.clone()),
    }
}

/// Stores the admin key that is derived from the cluster's secret, replacing any other.
pub fn keep_of_cluster(config: &Config, secret: &Key) -> Result<(), Failure> {
    let (Some(path), Some(folder)) = (path(config), &config.data_dir) else { return Ok(()) };
    let text = key_file(&secret.sign(&[b"key of the admin address"]));
    if checksummed::read_text(&path).is_ok_and(|kept| kept == text) {
        return Ok(());
    }
    checksummed::write_text(folder, FILE, text.as_bytes()).map_err(failed)
}

/// Returns the content of a key file with this primary key.
fn key_file(key: &[u8]) -> String {
    format!("primary = {}\n", STANDARD.encode(key))
}

/// Reads the admin key, generating it if missing.
fn read_own(config: &Config) -> Result<Keys, Failure> {
    let kept = path(config);
    let text = match kept.as_ref().map(|path| checksummed::read_text(path)) {
        Some(Ok(text)) => text,
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
            let text = format!("{error}: remove it to generate a new key");
            return Err(Failure::Refused(Refused::Unusable(text)));
        }
        _ => {
            let random = random::random_bytes().map_err(failed)?;
            let text = key_file(&random);
            match &config.data_dir {
                Some(folder) => {
                    checksummed::write_text(folder, FILE, text.as_bytes()).map_err(failed)?
                }
                None => tracing::warn!(
                    "an in-memory server with authentication has no key of its own: the admin \
                     address serves health and metrics only; give a --key-file"
                ),
            }
            text
        }
    };
    Keys::parse(&text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_where_logins_are_asked_for_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let account = CurrentKeys::new(Keys::well_known().unwrap());
        let read_keys = |config: &Config| portal_keys(config, &account).map(|keys| keys.load());
        let open = Config { data_dir: Some(folder.path().to_owned()), ..Config::for_tests() };
        assert!(read_keys(&open).unwrap().are_well_known());
        assert_eq!(path(&open), None);
        let asks = Config { mongo_auth: true, ..open };
        let made = read_keys(&asks).unwrap();
        assert!(!made.are_well_known());
        let file = path(&asks).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
        assert_eq!(mode & 0o077, 0, "others may not read it");
        let again = server_base::key_file::read_keys(Some(&file)).unwrap();
        assert_eq!(again.primary(), made.primary());
        assert_eq!(read_keys(&asks).unwrap().primary(), made.primary());
        // Nodes of a cluster use the key derived from its secret and ignore a stored one.
        let secret = Key::of(b"secret").unwrap();
        keep_of_cluster(&asks, &secret).unwrap();
        let of_cluster = read_keys(&asks).unwrap();
        assert_ne!(of_cluster.primary(), made.primary());
        let other = tempfile::tempdir().unwrap();
        let there = Config { data_dir: Some(other.path().to_owned()), ..asks.clone() };
        keep_of_cluster(&there, &secret).unwrap();
        assert_eq!(read_keys(&there).unwrap().primary(), of_cluster.primary());
        std::fs::write(&file, "primary = a\n# crc32c 00000000\n").unwrap();
        assert!(read_keys(&asks).is_err());
    }
}
