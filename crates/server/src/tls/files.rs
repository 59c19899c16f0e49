//! Sources of the server's certificate: configured files, else files in the data directory
//! generated at the first start, else one generated for this process.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use auth::Secret;
use cosmos::Certificate;

use crate::{
    config::Config,
    data_dir::{Refused, SECRETS_FOLDER},
    failure::{Failure, failed},
    machine, sealed,
};

/// Certificate file, PEM, with a checksum if this server generated it.
pub(super) const CERTIFICATE: &str = "certificate.pem";
/// Private key file, PEM.
pub(super) const KEY: &str = "key.pem";

/// Where a certificate is read from, at the start and on reload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Files configured by the operator.
    Given { certificate: PathBuf, key: PathBuf },
    /// A folder of the data directory.
    Kept(PathBuf),
    /// Generated in memory; reload has no effect.
    Nowhere,
}

/// Reads a certificate and its key; the error is a sentence that names the file.
fn read_pair(certificate: &Path, key: &Path) -> Result<Certificate, String> {
    let text = |path: &Path| {
        sealed::read_text(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let read = Certificate::from_pem(text(certificate)?, Secret::from_text(text(key)?));
    read.map_err(|error| format!("the certificate {}: {error}", certificate.display()))
}

impl Source {
    /// Returns the source for these settings. Refuses a certificate without a key, and vice versa.
    pub(super) fn of(config: &Config) -> Result<Self, Failure> {
        match (&config.tls_cert, &config.tls_key) {
            (Some(certificate), Some(key)) => {
                Ok(Self::Given { certificate: certificate.clone(), key: key.clone() })
            }
            (None, None) => Ok(match &config.data_dir {
                Some(path) => Self::Kept(path.join(SECRETS_FOLDER)),
                None => Self::Nowhere,
            }),
            _ => Err(Failure::Usage("--tls-cert and --tls-key must be given together".to_owned())),
        }
    }

    /// Reads the certificate; generates and stores one if missing, so that it can be trusted once.
    pub(super) fn open(&self) -> Result<Certificate, Failure> {
        let wrong =
            |error: &dyn std::fmt::Display| failed(format!("cannot create a certificate: {error}"));
        if let Some(read) = self.read() {
            return read.map_err(|why| match self {
                Self::Given { .. } => Failure::Usage(why),
                Self::Kept(_) | Self::Nowhere => Failure::Refused(Refused::Unusable(format!(
                    "{why}; remove {CERTIFICATE} and {KEY} to generate new ones"
                ))),
            });
        }
        let made = Certificate::make_self_signed(&machine::node_name());
        let made = made.map_err(|error| wrong(&error))?;
        if let Self::Kept(folder) = self {
            fs::create_dir_all(folder).map_err(|error| wrong(&error))?;
            // Certificate last: its existence implies the key's.
            sealed::write_text(folder, KEY, made.key().bytes()).map_err(|error| wrong(&error))?;
            let text = made.certificate().as_bytes();
            sealed::write_text(folder, CERTIFICATE, text).map_err(|error| wrong(&error))?;
        }
        Ok(made)
    }

    /// Reads the certificate from its files; `None` if there are none. The error is a sentence.
    pub(super) fn read(&self) -> Option<Result<Certificate, String>> {
        match self {
            Self::Given { certificate, key } => Some(read_pair(certificate, key)),
            Self::Kept(folder) => {
                let (certificate, key) = (folder.join(CERTIFICATE), folder.join(KEY));
                (certificate.exists() && key.exists()).then(|| read_pair(&certificate, &key))
            }
            Self::Nowhere => None,
        }
    }
}

/// Returns damage to the two files in a data directory that no server has open. Missing files are
/// not damage: the next start generates them.
pub(crate) fn find_damage(data_dir: &Path) -> Vec<io::Error> {
    let folder = data_dir.join(SECRETS_FOLDER);
    let read = |name: &str| sealed::read_text(&folder.join(name)).map(Secret::from_text);
    let texts = [CERTIFICATE, KEY].map(|name| read(name).map(drop));
    let wrong = texts.into_iter().filter_map(Result::err);
    wrong.filter(|error| error.kind() == io::ErrorKind::InvalidData).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_certificate_is_kept_and_a_damaged_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = Some(folder.path().to_owned());
        let source = Source::of(&Config { data_dir, ..Config::for_tests() }).unwrap();
        assert!(source.read().is_none());
        let made = source.open().unwrap();
        assert_eq!(source.open().unwrap().certificate(), made.certificate());
        assert!(find_damage(folder.path()).is_empty());
        let key = folder.path().join(SECRETS_FOLDER).join(KEY);
        let text = fs::read_to_string(&key).unwrap().replace("-BEGIN", "-BEGUN");
        fs::write(key, text).unwrap();
        assert_eq!(find_damage(folder.path()).len(), 1);
        let refused = source.open().map(|_| ()).unwrap_err();
        assert!(matches!(&refused, Failure::Refused(_)), "{refused}");
    }

    #[test]
    fn files_of_the_settings_go_before_those_that_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| Some(folder.path().join(name));
        let (one, other) = (Source::Nowhere.open().unwrap(), Source::Nowhere.open().unwrap());
        assert_ne!(one.certificate(), other.certificate(), "nothing is kept");
        fs::write(folder.path().join("c"), one.certificate()).unwrap();
        fs::write(folder.path().join("k"), one.key().bytes()).unwrap();
        let config = Config { tls_cert: path("c"), tls_key: path("k"), ..Config::for_tests() };
        let source = Source::of(&config).unwrap();
        assert_eq!(source.open().unwrap().certificate(), one.certificate());
        fs::write(folder.path().join("k"), other.key().bytes()).unwrap();
        let wrong = source.open().map(|_| ()).unwrap_err();
        assert!(matches!(&wrong, Failure::Usage(why) if why.contains("/c: ")), "{wrong}");
        let half = Config { tls_cert: path("c"), ..Config::for_tests() };
        assert!(Source::of(&half).unwrap_err().to_string().contains("must be given together"));
    }
}
