//! Users and roles as they are kept: small records of the engine, which no command shows as documents.
//! All of them are in memory, and each change is a commit, also one of many of them. Who may change
//! them is not asked here. In a cluster the first shard keeps them; the others have a copy
//! (`users_copy.rs`), which is read only.
//!
//! ```text
//! "mongodb access" / "user" / <database> / <user>
//! "mongodb access" / "role" / <database> / <role>
//! "mongodb access" / "secret"        what salts of unknown users are made of
//! ```

use std::{collections::HashSet, sync::Arc};

use auth::Key;
use document::{DocRef, Document, ObjectId, Value, doc};
use engine::{Engine, Expected, Kind, Resource, ResourceChange, Store, What};
use parking_lot::Mutex;

use crate::{
    access::{Privileges, Role, RoleName, User, UserName, builtin, expand},
    errors::{Error, InternalError, Result},
    first_shard::FirstShard,
    limits::{MAX_ACCESS_BYTES, MAX_ACCESS_RECORDS},
    users_copy::{UsersCopy, make_answer},
};

/// The first part of all paths.
const ROOT: &str = "mongodb access";
/// The second part of paths of users.
const USERS: &str = "user";
/// The second part of paths of roles.
const ROLES: &str = "role";
/// The second part of the path of the secret.
const SECRET: &str = "secret";
/// Bytes of the secret.
const SECRET_BYTES: usize = 32;

/// What is kept under a name, and its version: a change says which one it replaces, so that none is
/// lost between two who change it at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T> {
    /// What is kept.
    pub(crate) value: T,
    /// Its version.
    pub(crate) version: u64,
}

impl Kept<User> {
    /// What is to be kept in its place; `None`: nothing.
    fn change(&self, body: Option<Document>) -> ResourceChange {
        let name = &self.value.name;
        replace(&[ROOT, USERS, &name.database, &name.user], body, self.version)
    }
}

impl Kept<Role> {
    /// The same for a role.
    fn change(&self, body: Option<Document>) -> ResourceChange {
        let name = &self.value.name;
        replace(&[ROOT, ROLES, &name.database, &name.role], body, self.version)
    }
}

/// Has a record take the place of this version.
fn replace(path: &[&str], body: Option<Document>, version: u64) -> ResourceChange {
    match body {
        Some(body) => ResourceChange::put(path, body, Expected::Version(version)),
        None => ResourceChange::remove(path, Expected::Version(version)),
    }
}

/// Takes roles from a list; whether any of them was in it.
fn take(gone: &HashSet<RoleName>, roles: &mut Vec<RoleName>) -> bool {
    let had = roles.len();
    roles.retain(|role| !gone.contains(role));
    roles.len() < had
}

/// The users and roles of a server.
#[derive(Debug)]
pub(crate) struct Users<S: Store> {
    engine: Engine<S>,
    /// Those that the first shard keeps; `None`: they are kept here.
    copy: Option<UsersCopy>,
    /// Changes that look at several records are made one after the other.
    changing: tokio::sync::Mutex<()>,
    /// Made of the secret, once it has been read.
    key: Mutex<Option<Key>>,
}

/// A record that is not one of a user or a role.
fn damaged(what: &str) -> Error {
    Error::new(InternalError, format!("the record of a {what} is damaged"))
}

fn kept_user(record: &Resource) -> Result<Kept<User>> {
    let value = User::from_stored(DocRef::Tree(&record.body)).map_err(|_| damaged("user"))?;
    Ok(Kept { value, version: record.stamp })
}

fn kept_role(record: &Resource) -> Result<Kept<Role>> {
    let value = Role::from_stored(DocRef::Tree(&record.body)).map_err(|_| damaged("role"))?;
    Ok(Kept { value, version: record.stamp })
}

impl<S: Store> Users<S> {
    /// Those that an engine keeps, or the server of the first shard.
    pub(crate) fn new(engine: Engine<S>, first: Option<FirstShard>) -> Self {
        let copy = first.map(UsersCopy::new);
        Self { engine, copy, changing: tokio::sync::Mutex::default(), key: Mutex::default() }
    }

    /// The copy of those that the first shard keeps; `None`: they are kept here.
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

    /// What the server of another shard is told that knows what it was told with this token.
    pub(crate) fn told(&self, process: ObjectId, seen: &[u8]) -> Result<Vec<u8>> {
        let token = self.token(process);
        if token == seen {
            return Ok(make_answer(&token, None));
        }
        let mut records = self.records_below(&[ROOT, ROLES]);
        for user in self.engine.resources_below(&[ROOT, USERS]) {
            let Kept { value, .. } = kept_user(&user)?;
            // Logins are made here, so nobody else needs what is kept of passwords.
            let told = User { credentials: Default::default(), custom_data: None, ..value };
            let (path, body) = (user.path.clone(), told.to_stored());
            records.push(Arc::new(Resource { path, body, ..*user }));
        }
        Ok(make_answer(&token, Some(&records)))
    }

    /// What tells one state of them from another, over all servers that keep them one after the other.
    pub(crate) fn token(&self, process: ObjectId) -> Vec<u8> {
        [&process.0[..], &self.changes().to_le_bytes()].concat()
    }

    /// How often any of them changed: what was made of them is right while this number stays the same.
    pub(crate) fn changes(&self) -> u64 {
        self.copy.as_ref().map_or_else(|| self.engine.resource_changes(), UsersCopy::changes)
    }

    /// Whoever holds this is the only one who changes anything.
    pub(crate) async fn lock(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    /// Whether there is any user.
    pub(crate) fn has_any(&self) -> bool {
        !self.records_below(&[ROOT, USERS]).is_empty()
    }

    /// The user of this name.
    pub(crate) fn user(&self, name: &UserName) -> Result<Option<Kept<User>>> {
        let record = self.record_at(&[ROOT, USERS, &name.database, &name.user]);
        record.map(|record| kept_user(&record)).transpose()
    }

    /// The users of a database, or all; by database and name.
    pub(crate) fn users(&self, database: Option<&str>) -> Result<Vec<Kept<User>>> {
        let records = match database {
            Some(database) => self.records_below(&[ROOT, USERS, database]),
            None => self.records_below(&[ROOT, USERS]),
        };
        records.iter().map(|record| kept_user(record)).collect()
    }

    /// The role of this name that somebody made; a built-in one is none of those.
    pub(crate) fn role(&self, name: &RoleName) -> Result<Option<Kept<Role>>> {
        let record = self.record_at(&[ROOT, ROLES, &name.database, &name.role]);
        record.map(|record| kept_role(&record)).transpose()
    }

    /// The roles that somebody made in a database, or all; by database and name.
    pub(crate) fn roles(&self, database: Option<&str>) -> Result<Vec<Kept<Role>>> {
        let records = match database {
            Some(database) => self.records_below(&[ROOT, ROLES, database]),
            None => self.records_below(&[ROOT, ROLES]),
        };
        records.iter().map(|record| kept_role(record)).collect()
    }

    /// Whether there is such a role, built-in ones among them.
    pub(crate) fn has_role(&self, name: &RoleName) -> Result<bool> {
        Ok(builtin::is_builtin(name) || self.role(name)?.is_some())
    }

    /// All roles that these roles come to, and what they permit. A role that is no more gives nothing.
    pub(crate) fn expand(&self, names: &[RoleName]) -> (Vec<RoleName>, Privileges) {
        let kept = |name: &RoleName| match self.role(name) {
            Ok(role) => role.map(|role| role.value),
            Err(error) => {
                tracing::error!(role = %name, error = error.message, "a role gives nothing");
                None
            }
        };
        expand(names, kept)
    }

    /// Keeps a user in the place of that version; `None`: where there is none.
    ///
    /// Errors: of the kind [`Kind::Exists`] and its like, where that is not what is there.
    pub(crate) async fn put_user(
        &self,
        user: &User,
        over: Option<u64>,
    ) -> std::result::Result<(), engine::Error> {
        let path = [ROOT, USERS, &user.name.database, &user.name.user];
        self.put(&path, user.to_stored(), over).await
    }

    /// The same for a role.
    pub(crate) async fn put_role(
        &self,
        role: &Role,
        over: Option<u64>,
    ) -> std::result::Result<(), engine::Error> {
        let path = [ROOT, ROLES, &role.name.database, &role.name.role];
        self.put(&path, role.to_stored(), over).await
    }

    async fn put(
        &self,
        path: &[&str],
        body: Document,
        over: Option<u64>,
    ) -> std::result::Result<(), engine::Error> {
        let expected = match over {
            Some(version) => Expected::Version(version),
            None => Expected::Absent,
        };
        let others = self.engine.resources_below(&[ROOT]);
        let others = others.iter().filter(|record| record.path != path);
        let (count, held) = others.fold((0, 0), |(count, held), record| {
            (count + 1, held + record.body.to_buf().bytes().len())
        });
        if MAX_ACCESS_RECORDS <= count {
            let text = format!("there are {MAX_ACCESS_RECORDS} users and roles, which is the most");
            return Err(engine::Error::new(Kind::TooLarge, text));
        }
        if MAX_ACCESS_BYTES < held + body.to_buf().bytes().len() {
            let text = format!("all users and roles together may hold {MAX_ACCESS_BYTES} bytes");
            return Err(engine::Error::new(Kind::TooLarge, text));
        }
        self.engine.put_resource(path, body, expected).await?;
        Ok(())
    }

    /// Removes a user; whether there was one.
    pub(crate) async fn remove_user(&self, name: &UserName) -> Result<bool> {
        let path = [ROOT, USERS, &name.database, &name.user];
        match self.engine.remove_resource(&path, Expected::Present).await {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind, Kind::NotFound(What::Document)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the users of a database, all or none; how many there were.
    pub(crate) async fn remove_users(&self, database: &str) -> Result<usize> {
        let users = self.users(Some(database))?;
        let remove = |user: &Kept<User>| user.change(None);
        self.engine.change_resources(users.iter().map(remove).collect()).await?;
        Ok(users.len())
    }

    /// Takes roles from everybody who has them, and removes them: all of it or nothing. Otherwise a
    /// role that is made anew under the name of one that is gone could belong to those who had that
    /// one.
    ///
    /// Nobody has more by it, so there is room for what it sets; and each record is changed once, so
    /// that the commit is at most as large as what is kept ([`MAX_ACCESS_BYTES`] and names).
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

    /// What salts of unknown users are made of, so that they stay the same as those of known ones do.
    /// It is made once and kept.
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
                // Another connection made it at the same time.
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

/// Bytes from the system's generator: for salts, nonces and secrets.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(InternalError, format!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// The id of a new user: a UUID of version 4.
pub(crate) fn new_user_id() -> Result<[u8; 16]> {
    let mut id = random_bytes::<16>()?;
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    Ok(id)
}
