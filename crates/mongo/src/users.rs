//! The storage of users and roles: small records of the engine that no command shows as documents.
//! All of them are in memory, and each change is one commit, even of many records. Permissions are
//! checked by `authorize`. In a cluster the first shard stores them; the others have a read-only
//! copy (`users_copy.rs`).
//!
//! ```text
//! "mongodb access" / "user" / <database> / <user>
//! "mongodb access" / "role" / <database> / <role>
//! "mongodb access" / "secret"        the key for the salts of unknown users
//! ```

use std::{collections::HashSet, sync::Arc};

use auth::Key;
use document::{DocRef, Document, ObjectId, Value, doc};
use engine::{Engine, ErrorSubject, Expected, Kind, Resource, ResourceChange};
use parking_lot::Mutex;

use crate::{
    access::{Privileges, Role, RoleName, User, UserName, builtin, expand},
    errors::{Error, InternalError, Result},
    first_shard::FirstShard,
    limits::{MAX_ACCESS_BYTES, MAX_ACCESS_RECORDS},
    users_copy::{UsersCopy, make_answer},
};

/// First component of the catalog paths of users, of roles and of the secret from which the salts
/// of unknown users are derived.
const ROOT: &str = "mongodb access";
/// Second component of the catalog paths of users.
const USERS: &str = "user";
/// Second component of the catalog paths of roles.
const ROLES: &str = "role";
/// Second component of the catalog path of the secret.
const SECRET: &str = "secret";
const SECRET_BYTES: usize = 32;

/// A stored value and its version. A change names the version that it replaces, so that concurrent
/// changes do not overwrite each other.
#[derive(Clone, Debug)]
pub(crate) struct Versioned<T> {
    /// The stored user or role.
    pub(crate) value: T,
    /// Version of the record: the sequence number of its last commit.
    pub(crate) version: u64,
}

impl Versioned<User> {
    /// Returns the change that replaces this version with `body`, or removes it if `body` is
    /// `None`.
    fn change(&self, body: Option<Document>) -> ResourceChange {
        let name = &self.value.name;
        replace(&[ROOT, USERS, &name.database, &name.user], body, self.version)
    }
}

impl Versioned<Role> {
    /// Returns the change that replaces this version with `body`, or removes it if `body` is
    /// `None`.
    fn change(&self, body: Option<Document>) -> ResourceChange {
        let name = &self.value.name;
        replace(&[ROOT, ROLES, &name.database, &name.role], body, self.version)
    }
}

/// Returns the change that replaces a record, on condition that it still has this version.
fn replace(path: &[&str], body: Option<Document>, version: u64) -> ResourceChange {
    match body {
        Some(body) => ResourceChange::put(path, body, Expected::Version(version)),
        None => ResourceChange::remove(path, Expected::Version(version)),
    }
}

/// Removes the roles in `gone` from the list `roles`; returns whether the list contained any of
/// them.
fn take(gone: &HashSet<RoleName>, roles: &mut Vec<RoleName>) -> bool {
    let had = roles.len();
    roles.retain(|role| !gone.contains(role));
    roles.len() < had
}

/// The users and roles of a server.
#[derive(Debug)]
pub(crate) struct Users {
    engine: Engine,
    /// The local copy of the users and roles of the first shard; `None` if this server stores them.
    copy: Option<UsersCopy>,
    /// Serializes changes that read several records.
    changing: tokio::sync::Mutex<()>,
    /// Key derived from the secret, cached after the secret was first read.
    key: Mutex<Option<Key>>,
}

/// Returns the error of a record that is not a valid user or role.
fn damaged(what: &str) -> Error {
    Error::new(InternalError, format!("the record of a {what} is damaged"))
}

fn decode_user(record: &Resource) -> Result<Versioned<User>> {
    let value = User::from_stored(DocRef::Tree(&record.body)).map_err(|_| damaged("user"))?;
    Ok(Versioned { value, version: record.stamp })
}

fn decode_role(record: &Resource) -> Result<Versioned<Role>> {
    let value = Role::from_stored(DocRef::Tree(&record.body)).map_err(|_| damaged("role"))?;
    Ok(Versioned { value, version: record.stamp })
}

impl Users {
    /// Creates the access to the users and roles that this engine stores or, with `first`, that the
    /// first shard stores, of which a local copy is kept.
    pub(crate) fn new(engine: Engine, first: Option<FirstShard>) -> Self {
        let copy = first.map(UsersCopy::new);
        Self { engine, copy, changing: tokio::sync::Mutex::default(), key: Mutex::default() }
    }

    /// Returns the local copy of the users and roles of the first shard; `None` if this server
    /// stores them.
    pub(crate) fn copy(&self) -> Option<&UsersCopy> {
        self.copy.as_ref()
    }

    fn record_at(&self, path: &[&str]) -> Option<Arc<Resource>> {
        match &self.copy {
            Some(copy) => copy.record_at(path),
            None => self.engine.resource_at(path),
        }
    }

    fn records_below(&self, path: &[&str]) -> Vec<Arc<Resource>> {
        match &self.copy {
            Some(copy) => copy.records_below(path),
            None => self.engine.resources_below(path),
        }
    }

    /// Returns the users and roles, encoded for another shard's server, which has the version with
    /// token `seen`. If that is the current version, the records are left out.
    pub(crate) fn encode_newer(&self, process: ObjectId, seen: &[u8]) -> Result<Vec<u8>> {
        let token = self.token(process);
        if token == seen {
            return Ok(make_answer(&token, None));
        }
        let mut records = self.records_below(&[ROOT, ROLES]);
        for user in self.engine.resources_below(&[ROOT, USERS]) {
            let Versioned { value, .. } = decode_user(&user)?;
            // Credentials are left out: only this server handles logins.
            let encode_newer = User { credentials: Default::default(), custom_data: None, ..value };
            let (path, body) = (user.path.clone(), encode_newer.to_stored());
            records.push(Arc::new(Resource { path, body, ..*user }));
        }
        Ok(make_answer(&token, Some(&records)))
    }

    /// Returns a token that identifies this version of the records, distinct over all servers that
    /// have stored the records.
    pub(crate) fn token(&self, process: ObjectId) -> Vec<u8> {
        [&process.0[..], &self.changes().to_le_bytes()].concat()
    }

    /// Returns the number of changes of the records since the start. A value derived from the
    /// records is valid while this number stays the same.
    pub(crate) fn changes(&self) -> u64 {
        self.copy.as_ref().map_or_else(|| self.engine.resource_changes(), UsersCopy::changes)
    }

    /// Takes the lock that serializes changes of users and roles.
    pub(crate) async fn lock(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Returns whether any user exists.
    pub(crate) fn has_any(&self) -> bool {
        !self.records_below(&[ROOT, USERS]).is_empty()
    }

    /// Returns the user of this name.
    pub(crate) fn user(&self, name: &UserName) -> Result<Option<Versioned<User>>> {
        let record = self.record_at(&[ROOT, USERS, &name.database, &name.user]);
        record.map(|record| decode_user(&record)).transpose()
    }

    /// Returns the users of a database, or all users, ordered by database and name.
    pub(crate) fn users(&self, database: Option<&str>) -> Result<Vec<Versioned<User>>> {
        let records = match database {
            Some(database) => self.records_below(&[ROOT, USERS, database]),
            None => self.records_below(&[ROOT, USERS]),
        };
        records.iter().map(|record| decode_user(record)).collect()
    }

    /// Returns the user-defined role of this name; built-in roles are not found.
    pub(crate) fn role(&self, name: &RoleName) -> Result<Option<Versioned<Role>>> {
        let record = self.record_at(&[ROOT, ROLES, &name.database, &name.role]);
        record.map(|record| decode_role(&record)).transpose()
    }

    /// Returns the user-defined roles of a database, or all of them, ordered by database and name.
    pub(crate) fn roles(&self, database: Option<&str>) -> Result<Vec<Versioned<Role>>> {
        let records = match database {
            Some(database) => self.records_below(&[ROOT, ROLES, database]),
            None => self.records_below(&[ROOT, ROLES]),
        };
        records.iter().map(|record| decode_role(record)).collect()
    }

    /// Returns whether the role exists, built-in or user-defined.
    pub(crate) fn has_role(&self, name: &RoleName) -> Result<bool> {
        Ok(builtin::is_builtin(name) || self.role(name)?.is_some())
    }

    /// Returns all roles that these roles include, and their privileges. Roles that do not exist
    /// grant nothing.
    pub(crate) fn expand(&self, names: &[RoleName]) -> (Vec<RoleName>, Privileges) {
        let kept = |name: &RoleName| match self.role(name) {
            Ok(role) => role.map(|role| role.value),
            Err(error) => {
                tracing::error!(
                    role = %name,
                    error = error.message,
                    "the stored role is invalid: it grants nothing"
                );
                None
            }
        };
        expand(names, kept)
    }

    /// Stores a user, replacing version `expected_version`; `None` stores a new user.
    ///
    /// Fails with [`Kind::Exists`] or a similar kind if the stored version is another one.
    pub(crate) async fn put_user(
        &self,
        user: &User,
        expected_version: Option<u64>,
    ) -> std::result::Result<(), engine::Error> {
        let path = [ROOT, USERS, &user.name.database, &user.name.user];
        self.put(&path, user.to_stored(), expected_version).await
    }

    /// Stores a role, replacing version `expected_version`; `None` stores a new role. Fails like
    /// [`Self::put_user`] if the stored version is another one.
    pub(crate) async fn put_role(
        &self,
        role: &Role,
        expected_version: Option<u64>,
    ) -> std::result::Result<(), engine::Error> {
        let path = [ROOT, ROLES, &role.name.database, &role.name.role];
        self.put(&path, role.to_stored(), expected_version).await
    }

    async fn put(
        &self,
        path: &[&str],
        body: Document,
        expected_version: Option<u64>,
    ) -> std::result::Result<(), engine::Error> {
        let expected = match expected_version {
            Some(version) => Expected::Version(version),
            None => Expected::Absent,
        };
        let others = self.engine.resources_below(&[ROOT]);
        let others = others.iter().filter(|record| record.path != path);
        let (count, held) = others.fold((0, 0), |(count, held), record| {
            (count + 1, held + record.body.to_buf().bytes().len())
        });
        if MAX_ACCESS_RECORDS <= count {
            let text = format!("the limit of {MAX_ACCESS_RECORDS} users and roles is reached");
            return Err(engine::Error::new(Kind::TooLarge, text));
        }
        if MAX_ACCESS_BYTES < held + body.to_buf().bytes().len() {
            let text =
                format!("all users and roles together may take at most {MAX_ACCESS_BYTES} bytes");
            return Err(engine::Error::new(Kind::TooLarge, text));
        }
        self.engine.put_resource(path, body, expected).await?;
        Ok(())
    }

    /// Removes a user; returns whether it existed.
    pub(crate) async fn remove_user(&self, name: &UserName) -> Result<bool> {
        let path = [ROOT, USERS, &name.database, &name.user];
        match self.engine.remove_resource(&path, Expected::Present).await {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind, Kind::NotFound(ErrorSubject::Document)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes all users of a database in one commit; returns how many there were.
    pub(crate) async fn remove_users(&self, database: &str) -> Result<usize> {
        let users = self.users(Some(database))?;
        let remove = |user: &Versioned<User>| user.change(None);
        self.engine.change_resources(users.iter().map(remove).collect()).await?;
        Ok(users.len())
    }

    /// Removes roles, and removes them from all users and roles that have them, in one commit.
    /// Users that kept a removed role would be granted a new role of the same name.
    ///
    /// Records only shrink, so the size limits hold; and each record is changed once, so that the
    /// commit is at most as large as all stored records ([`MAX_ACCESS_BYTES`] and names).
    pub(crate) async fn remove_roles(&self, gone: &HashSet<RoleName>) -> Result<()> {
        let mut changes = Vec::new();
        for mut user in self.users(None)? {
            if take(gone, &mut user.value.roles) {
                changes.push(user.change(Some(user.value.to_stored())));
            }
        }
        for mut role in self.roles(None)? {
            if gone.contains(&role.value.name) {
                changes.push(role.change(None));
            } else if take(gone, &mut role.value.roles) {
                changes.push(role.change(Some(role.value.to_stored())));
            }
        }
        self.engine.change_resources(changes).await?;
        Ok(())
    }

    /// Returns the key that the salts of unknown users are derived from, so that these salts are as
    /// stable as the salts of existing users. The key is created once and stored.
    pub(crate) async fn secret_key(&self) -> Result<Key> {
        if let Some(key) = &*self.key.lock() {
            return Ok(key.clone());
        }
        let path = [ROOT, SECRET];
        if self.engine.resource_at(&path).is_none() {
            let bytes = random_bytes::<SECRET_BYTES>()?.to_vec();
            let body = doc! { "secret": Value::Binary { subtype: 0, bytes } };
            match self.engine.put_resource(&path, body, Expected::Absent).await {
                Ok(_) => {}
                // Another connection has stored the secret concurrently.
                Err(error) if matches!(error.kind, Kind::Exists(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let record: Arc<Resource> =
            self.engine.resource_at(&path).ok_or_else(|| damaged("secret"))?;
        let Some(Value::Binary { bytes, .. }) = record.body.get("secret") else {
            return Err(damaged("secret"));
        };
        let key = Key::of(bytes).map_err(|_| damaged("secret"))?;
        Ok(self.key.lock().insert(key).clone())
    }
}

/// Returns bytes from the system's random generator, for salts, nonces and secrets.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(InternalError, format!("cannot get random bytes: {error}")))?;
    Ok(bytes)
}

/// Returns the id of a new user: a UUID of version 4.
pub(crate) fn new_user_id() -> Result<[u8; 16]> {
    let mut id = random_bytes::<16>()?;
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    Ok(id)
}
