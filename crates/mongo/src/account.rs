//! Logins with the connection strings of Azure Cosmos DB for MongoDB: the user is the account, and
//! the password is one of the account's keys. Each key has a user of its own, all with the
//! account's name. These users are not stored. They exist in every database, since a driver takes
//! the database of the login from the connection string.
//!
//! The user of a read-write key has the role `root`, that of a read-only key `readAnyDatabase`.

use std::sync::Arc;

use auth::{
    CurrentKeys, Keys, Right, Secret,
    scram::{Mechanism, Verifier, prepare_password},
};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::{
    access::{Credentials, RoleName, User, UserName, sha1_digest},
    errors::{Error, InternalError, Result},
    users::random_bytes,
};

/// The name of the replica set in connection strings of accounts.
pub(crate) const SET_NAME: &str = "globaldb";

/// The name of an account, and its keys, which may be replaced.
#[derive(Clone, Debug)]
pub struct Account {
    name: String,
    keys: CurrentKeys,
    /// The hashed keys, by mechanism; computed at the first login with the mechanism.
    hashed: Arc<Mutex<Vec<Hashed>>>,
}

/// The keys of an account, hashed for one mechanism.
#[derive(Clone, Debug)]
struct Hashed {
    mechanism: Mechanism,
    /// The keys that were hashed. Once the account has other keys, they are hashed again.
    keys: Arc<Keys>,
    verifiers: Vec<Verifier>,
}

impl Account {
    /// Creates an account of this name that accepts the current keys.
    pub fn new(name: String, keys: CurrentKeys) -> Self {
        Self { name, keys, hashed: Arc::default() }
    }

    /// Returns whether an application name is that of the account's connection strings:
    /// `appName=@NAME@`.
    pub(crate) fn is_named_by(&self, app: &str) -> bool {
        app.strip_prefix('@').and_then(|app| app.strip_suffix('@')) == Some(self.name.as_str())
    }

    /// Returns how often the keys were replaced.
    pub(crate) fn changes(&self) -> u64 {
        self.keys.changes()
    }

    /// Returns the user of each current key, in the order of the keys; `None` if the name is not
    /// the account's.
    pub(crate) fn users(&self, name: &UserName) -> Option<Vec<User>> {
        self.users_of(&self.keys.load(), name)
    }

    /// Returns the verifier and the user of each current key, in the order of the keys; `None` if
    /// the name is not the account's.
    pub(crate) async fn logins(
        &self,
        name: &UserName,
        mechanism: Mechanism,
    ) -> Result<Option<(Vec<Verifier>, Vec<User>)>> {
        // Loaded once, since the keys may be replaced while they are hashed.
        let keys = self.keys.load();
        let Some(users) = self.users_of(&keys, name) else { return Ok(None) };
        Ok(Some((self.verifiers(keys, mechanism).await?, users)))
    }

    /// Returns the user of each key, in the order of the keys; `None` if the name is not the
    /// account's.
    fn users_of(&self, keys: &Keys, name: &UserName) -> Option<Vec<User>> {
        if name.user != self.name {
            return None;
        }
        let user = |(text, right): (&Secret, Right)| User {
            name: name.clone(),
            id: self.user_id(text),
            roles: vec![RoleName::new(
                match right {
                    Right::Write => "root",
                    Right::Read => "readAnyDatabase",
                },
                "admin",
            )],
            custom_data: None,
            credentials: Credentials::default(),
            restrictions: Vec::new(),
        };
        Some(keys.texts().map(user).collect())
    }

    /// Returns the id of a key's user. It is different for each key.
    fn user_id(&self, key: &Secret) -> [u8; 16] {
        let hash = Sha256::new()
            .chain_update(b"user of an account\0")
            .chain_update(self.name.as_bytes())
            .chain_update(b"\0")
            .chain_update(key.bytes())
            .finalize();
        let mut id = [0; 16];
        id.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        id
    }

    /// Returns the verifier of each key, in the order of the keys. All have the same salt, since
    /// the server sends the salt before it knows which key the client has.
    async fn verifiers(&self, keys: Arc<Keys>, mechanism: Mechanism) -> Result<Vec<Verifier>> {
        let is_current = |it: &&Hashed| it.mechanism == mechanism && Arc::ptr_eq(&it.keys, &keys);
        if let Some(hashed) = self.hashed.lock().iter().find(is_current) {
            return Ok(hashed.verifiers.clone());
        }
        let (name, of) = (self.name.clone(), Arc::clone(&keys));
        let hashed = tokio::task::spawn_blocking(move || hash_keys(&name, &of, mechanism)).await;
        let failed = |_| Error::new(InternalError, "cannot hash the keys of the account");
        let verifiers = hashed.map_err(failed)??;
        let mut held = self.hashed.lock();
        held.retain(|it| it.mechanism != mechanism);
        held.push(Hashed { mechanism, keys, verifiers: verifiers.clone() });
        Ok(verifiers)
    }
}

/// Returns the verifier of each key, with a new salt that all share.
fn hash_keys(name: &str, keys: &Keys, mechanism: Mechanism) -> Result<Vec<Verifier>> {
    let mut salt = random_bytes::<32>()?.to_vec();
    salt.truncate(mechanism.salt_bytes());
    let hash = |(key, _): (&Secret, Right)| {
        let text = key.text().unwrap_or_default();
        let password = match mechanism {
            Mechanism::Sha1 => Secret::from_text(sha1_digest(name, text)),
            Mechanism::Sha256 => prepare_password(text).map_err(|malformed| {
                Error::new(InternalError, format!("a key cannot be a password: {malformed}"))
            })?,
        };
        let (salt, iterations) = (salt.clone(), mechanism.iterations());
        Ok(Verifier::of_password(mechanism, password.bytes(), salt, iterations))
    };
    keys.texts().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIMARY: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";
    const READING: &str = "ZmVkY2JhOTg3NjU0MzIxMA==";

    fn account() -> Account {
        let keys = Keys::new(&[(PRIMARY, Right::Write), (READING, Right::Read)]).unwrap();
        Account::new("shop".to_owned(), CurrentKeys::new(keys))
    }

    #[test]
    fn each_key_has_a_user_of_its_own_under_every_database() {
        let account = account();
        let of = |database: &str| account.users(&UserName::new("shop", database)).unwrap();
        let (one, other) = (of("admin"), of("orders"));
        let roles: Vec<_> = one.iter().map(|user| user.roles[0].role.as_str()).collect();
        assert_eq!(roles, ["root", "readAnyDatabase"]);
        assert_ne!(one[0].id, one[1].id);
        assert_eq!(one[0].id, other[0].id);
        assert_eq!(other[0].name.to_string(), UserName::new("shop", "orders").to_string());
        assert!(account.users(&UserName::new("Shop", "admin")).is_none());
        // Another key is another user.
        account.keys.replace(Keys::new(&[(READING, Right::Write)]).unwrap());
        assert_ne!(of("admin")[0].id, one[0].id);
    }

    #[test]
    fn clients_name_the_account_as_connection_strings_do() {
        let account = account();
        for (app, want) in
            [("@shop@", true), ("shop", false), ("@shop", false), ("@Shop@", false), ("@", false)]
        {
            assert_eq!(account.is_named_by(app), want, "{app}");
        }
    }

    #[tokio::test]
    async fn the_keys_are_hashed_with_one_salt_until_they_are_replaced() {
        let account = account();
        let name = UserName::new("shop", "admin");
        for mechanism in Mechanism::ALL {
            let (verifiers, users) = account.logins(&name, mechanism).await.unwrap().unwrap();
            assert_eq!((verifiers.len(), users.len()), (2, 2));
            assert_eq!(verifiers[0].salt, verifiers[1].salt);
            let (again, _) = account.logins(&name, mechanism).await.unwrap().unwrap();
            assert_eq!(verifiers, again);
        }
        account.keys.replace(Keys::new(&[(READING, Right::Read)]).unwrap());
        let (verifiers, users) = account.logins(&name, Mechanism::Sha256).await.unwrap().unwrap();
        assert_eq!((verifiers.len(), users.len()), (1, 1));
        assert!(
            account.logins(&UserName::new("x", "admin"), Mechanism::Sha1).await.unwrap().is_none()
        );
    }

    #[test]
    fn it_shows_no_key() {
        assert!(!format!("{:?}", account()).contains(PRIMARY));
    }
}
