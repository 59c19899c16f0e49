//! Passwords that users are given: read from a command and made into what is stored, from which nobody
//! gets the password back. Whoever logs in proves to know it by SCRAM, see `commands/sasl`.

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

/// The text of an error.
const EMPTY: &str = "Password cannot be empty";

/// A password that was read, and for which mechanisms it is to be stored.
#[derive(Clone, Debug)]
pub(crate) struct NewPassword {
    user: String,
    /// As it was typed, or digested by the client.
    password: Secret,
    is_digested: bool,
    mechanisms: Vec<Mechanism>,
}

impl NewPassword {
    /// A password of a user, for all mechanisms. Fails with 2 for an empty one.
    pub(crate) fn of_text(user: &str, password: &Secret) -> Result<Self> {
        if password.text().is_none_or(str::is_empty) {
            return Err(Error::new(BadValue, EMPTY));
        }
        let mechanisms = Mechanism::ALL.to_vec();
        let password = password.clone();
        Ok(Self { user: user.to_owned(), password, is_digested: false, mechanisms })
    }

    /// Reads `pwd`, `digestPassword` and `mechanisms`; `None` without a password.
    ///
    /// Errors: 2 for an empty password, for one of a user whose logins are checked elsewhere, for a
    /// mechanism that there is not, and for SCRAM-SHA-256 with a password that the client has digested.
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

    /// Reads `mechanisms`; without it these are all.
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

    /// What is stored of it for one mechanism. It takes some ten thousand hashes.
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

/// What a login by this mechanism is checked with; `None`: the user has no password for it.
pub(crate) fn verifier_of(credentials: &Credentials, mechanism: Mechanism) -> Option<Verifier> {
    let stored = credentials.of(mechanism.name())?.clone();
    let StoredCredential { iterations, salt, stored_key, server_key } = stored;
    Some(Verifier { iterations, salt, stored_key, server_key })
}

/// Makes what is stored of a password. It computes for some hundredths of a second, on a thread where
/// nobody waits for it.
pub(crate) async fn new_credentials(password: NewPassword) -> Result<Credentials> {
    let made = tokio::task::spawn_blocking(move || password.credentials()).await;
    made.unwrap_or_else(|_| Err(Error::new(InternalError, "a password was not hashed")))
}
