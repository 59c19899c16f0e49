//! New passwords: parsed from a command and converted to SCRAM verifiers, from which the password
//! cannot be recovered. Logins are in `commands/sasl`.

use auth::{
    Secret,
    scram::{Mechanism, Verifier, prepare_password},
};

use crate::{
    access::{Credentials, StoredCredential, UserName, sha1_digest},
    arguments::Args,
    errors::{BadValue, Error, InternalError, Result},
    users::random_bytes,
};

const EMPTY: &str = "Password cannot be empty";

/// A new password and the mechanisms to store it for.
#[derive(Clone, Debug)]
pub(crate) struct NewPassword {
    user: String,
    /// The password in plain text, or as the client has digested it.
    password: Secret,
    is_digested: bool,
    mechanisms: Vec<Mechanism>,
}

impl NewPassword {
    /// Creates a user's password for all mechanisms. Fails with 2 if the password is empty.
    pub(crate) fn of_text(user: &str, password: &Secret) -> Result<Self> {
        if password.text().is_none_or(str::is_empty) {
            return Err(Error::new(BadValue, EMPTY));
        }
        let mechanisms = Mechanism::ALL.to_vec();
        let password = password.clone();
        Ok(Self { user: user.to_owned(), password, is_digested: false, mechanisms })
    }

    /// Reads `pwd`, `digestPassword` and `mechanisms`; returns `None` without a password.
    ///
    /// Fails with 2 if the password is empty, the user is of `$external`, a mechanism is unknown,
    /// or the mechanism is SCRAM-SHA-256 and the client has digested the password.
    pub(crate) fn parse(args: &Args<'_>, name: &UserName) -> Result<Option<Self>> {
        let digests = args.bool("digestPassword")?.unwrap_or(true);
        let Some(text) = args.str("pwd")? else { return Ok(None) };
        let wrong = |text: &str| Error::new(BadValue, text);
        if name.database == "$external" {
            return Err(wrong(
                "Cannot set the password for users defined on the '$external' database",
            ));
        }
        if text.is_empty() {
            return Err(wrong(EMPTY));
        }
        let mechanisms = Self::mechanisms(args)?;
        if !digests && mechanisms.contains(&Mechanism::Sha256) {
            return Err(wrong("Use of SCRAM-SHA-256 requires undigested passwords"));
        }
        let password = Secret::from_text(text.to_owned());
        let user = name.user.clone();
        Ok(Some(Self { user, password, is_digested: !digests, mechanisms }))
    }

    /// Parses the argument `mechanisms`; by default it returns all mechanisms.
    pub(crate) fn mechanisms(args: &Args<'_>) -> Result<Vec<Mechanism>> {
        let Some(listed) = args.array("mechanisms")? else { return Ok(Mechanism::ALL.to_vec()) };
        let mut mechanisms = Vec::new();
        for value in listed.iter() {
            let named = value.as_str().unwrap_or_default();
            let Some(mechanism) = Mechanism::from_name(named) else {
                let shown: String = named.chars().take(64).collect();
                return Err(Error::new(BadValue, format!("Unknown auth mechanism '{shown}'")));
            };
            if !mechanisms.contains(&mechanism) {
                mechanisms.push(mechanism);
            }
        }
        if mechanisms.is_empty() {
            return Err(Error::new(BadValue, "mechanisms field must not be empty"));
        }
        Ok(mechanisms)
    }

    /// Computes the verifier for one mechanism, with some ten thousand hashes.
    fn verifier(&self, mechanism: Mechanism) -> Result<Verifier> {
        let text = self.password.text().unwrap_or_default();
        let password = match mechanism {
            Mechanism::Sha1 if self.is_digested => self.password.clone(),
            Mechanism::Sha1 => Secret::from_text(sha1_digest(&self.user, text)),
            Mechanism::Sha256 => prepare_password(text).map_err(|malformed| {
                Error::new(BadValue, format!("the password cannot be used: {malformed}"))
            })?,
        };
        let mut salt = random_bytes::<32>()?.to_vec();
        salt.truncate(mechanism.salt_bytes());
        Ok(Verifier::of_password(mechanism, password.bytes(), salt, mechanism.iterations()))
    }

    fn credentials(&self) -> Result<Credentials> {
        let mut credentials = Credentials::default();
        for mechanism in &self.mechanisms {
            let stored = stored(self.verifier(*mechanism)?);
            match mechanism {
                Mechanism::Sha1 => credentials.sha1 = Some(stored),
                Mechanism::Sha256 => credentials.sha256 = Some(stored),
            }
        }
        Ok(credentials)
    }
}

fn stored(verifier: Verifier) -> StoredCredential {
    let Verifier { iterations, salt, stored_key, server_key } = verifier;
    StoredCredential { iterations, salt, stored_key, server_key }
}

/// Returns the verifier of a user's credentials for a mechanism; `None` if the user has no
/// credentials for it.
pub(crate) fn verifier_of(credentials: &Credentials, mechanism: Mechanism) -> Option<Verifier> {
    let stored = credentials.of(mechanism.name())?.clone();
    let StoredCredential { iterations, salt, stored_key, server_key } = stored;
    Some(Verifier { iterations, salt, stored_key, server_key })
}

/// Computes the credentials for a password, which takes some hundredths of a second, on a blocking
/// thread.
pub(crate) async fn new_credentials(password: NewPassword) -> Result<Credentials> {
    let made = tokio::task::spawn_blocking(move || password.credentials()).await;
    made.unwrap_or_else(|_| Err(Error::new(InternalError, "cannot hash a password")))
}
