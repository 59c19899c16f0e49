//! Authorization: compares the rights that a command's row requires with the rights that the
//! sender's roles grant. Without required authentication everything is permitted.
//!
//! Senders from the portal (the server's web pages) are not users. The portal has checked the
//! account's key, unless the portal's address requires none, and reports whether they may write.

use std::sync::Arc;

use crate::{
    access::{Restriction, User, UserName},
    account::Account,
    api::MongoApi,
    call::Call,
    client::Connection,
    command_row::CommandRow,
    errors::{CommandNotSupported, Error, Result, Unauthorized},
    login::{KnownUser, Login},
    operation::Operation,
    rights::Requirement,
    users_copy::unreached,
};

impl MongoApi {
    /// Returns whether a connection must authenticate before its commands run.
    pub(crate) fn asks_for_login(&self, connection: &Connection) -> bool {
        let asks = self.settings.asks_for_login || connection.has_to_log_in;
        asks && connection.relayed_sender.is_none()
    }

    /// Returns the number of changes of users, roles and the account's keys. It never decreases, so
    /// that it stays the same only if none of them changes.
    fn user_changes(&self) -> u64 {
        let keys = self.settings.account.as_ref().map_or(0, Account::changes);
        self.users.changes().wrapping_add(keys)
    }

    /// Returns the connection's login with the user's current rights. A user that was removed, or
    /// whose key was replaced, is logged out.
    pub(crate) fn login_of(&self, connection: &Connection) -> Option<Arc<Login>> {
        let login = connection.logins.lock().current.clone()?;
        if login.seen == self.user_changes() {
            return Some(login);
        }
        let current = match self.login_as(&login.name, Some(&login.id)) {
            Ok(current) => current
                .filter(|(user, now)| now.id == login.id && restrictions_admit(connection, user))
                .map(|(_, now)| now),
            Err(error) => {
                tracing::error!(
                    user = %login.name,
                    error = error.message,
                    "the stored user is invalid: it has no privileges"
                );
                None
            }
        };
        let mut logins = connection.logins.lock();
        // Replaced only if unchanged: another command of the connection may have been faster.
        if logins.current.as_ref().is_some_and(|held| Arc::ptr_eq(held, &login)) {
            logins.current.clone_from(&current);
        }
        current
    }

    /// Returns the user of this name and a login with its current rights. `id` selects one of the
    /// users of the account's keys, which all have the account's name. The change counter of users
    /// and roles is read first, so that later changes are detected.
    pub(crate) fn login_as(
        &self,
        name: &UserName,
        id: Option<&[u8; 16]>,
    ) -> Result<Option<(User, Arc<Login>)>> {
        let seen = self.user_changes();
        let stored = self.users.user(name)?.map(|user| user.value);
        let of_key = || {
            let mut users = self.settings.account.as_ref()?.users(name)?.into_iter();
            users.find(|user| Some(&user.id) == id)
        };
        let Some(user) = stored.or_else(of_key) else { return Ok(None) };
        let (roles, privileges) = self.users.expand(&user.roles);
        let login = Login { name: name.clone(), id: user.id, roles, privileges, seen };
        Ok(Some((user, Arc::new(login))))
    }

    /// Returns the login of a user that another server has authenticated; `None` if the user no
    /// longer exists.
    fn login_of_known(
        &self,
        connection: &Connection,
        known: &KnownUser,
    ) -> Result<Option<Arc<Login>>> {
        let found = self.login_as(&known.name(), Some(&known.id))?;
        let is_it = |user: &User| user.id == known.id && restrictions_admit(connection, user);
        Ok(found.filter(|(user, _)| is_it(user)).map(|(_, login)| login))
    }

    /// Returns whether the connection has all of these rights.
    pub(crate) fn permits(&self, connection: &Connection, needs: &[Requirement]) -> bool {
        if !self.asks_for_login(connection) {
            return true;
        }
        let login = self.login_of(connection);
        login.is_some_and(|login| needs.iter().all(|need| need.is_met(&login.privileges)))
    }
}

/// Checks that the sender of a command may run it.
///
/// Fails with 13 if a required login or the right is missing. Applications and drivers match on
/// both message texts.
fn check_rights(call: &Call<'_>, row: &'static CommandRow) -> Result<()> {
    if row.before_login() || !call.api.asks_for_login(call.connection) {
        return Ok(());
    }
    let Some(login) = call.api.login_of(call.connection) else {
        let text = format!("Command {} requires authentication", call.name);
        return Err(Error::new(Unauthorized, text));
    };
    let needs = row.rights.needs(&call.request()?)?;
    if !needs.iter().all(|need| need.is_met(&login.privileges)) {
        return Err(refusal(call));
    }
    // The rights are checked again for each batch of the command's cursor.
    call.operation.record_requirements(needs);
    Ok(())
}

/// Checks rights that a command is found to need only while it runs.
pub(crate) fn check_requirements(call: &Call<'_>, needs: &[Requirement]) -> Result<()> {
    if call.api.permits(call.connection, needs) { Ok(()) } else { Err(refusal(call)) }
}

/// Checks that the sender still has the rights that its cursor's operation required at the start.
pub(crate) fn check_still_permitted(call: &Call<'_>, operation: &Operation) -> Result<()> {
    check_requirements(call, &operation.needs())
}

/// Fails with 115 unless this server stores the users (shard 0). Other commands on users are routed
/// to that server; only a command marked as a request between shards can arrive at a different one.
pub(crate) fn check_users(call: &Call<'_>) -> Result<()> {
    match call.api.users.copy() {
        None => Ok(()),
        Some(_) => {
            let text = "this shard does not store users: send the command to the first shard";
            Err(Error::new(CommandNotSupported, text))
        }
    }
}

/// Prepares what the rights check reads: the login, if another server has authenticated the user,
/// and a recent copy of the users, if the first shard stores them.
///
/// Fails with 91 if the first shard cannot be reached and the command needs a login.
pub(crate) async fn prepare_rights(call: &Call<'_>, row: &'static CommandRow) -> Result<()> {
    let (api, connection) = (call.api, call.connection);
    if !api.asks_for_login(connection) {
        return Ok(());
    }
    if !connection.logins.lock().is_logged_in() {
        return Ok(());
    }
    if let Some(copy) = api.users.copy()
        && let Err(unreached) = copy.check_good().await
    {
        // Without a recent copy of the users only commands that need no login are permitted.
        return if row.before_login() { Ok(()) } else { Err(unreached) };
    }
    let Some(known) = connection.logins.lock().known.clone() else { return Ok(()) };
    let mut login = api.login_of_known(connection, &known)?;
    if login.is_none()
        && let Some(copy) = api.users.copy()
    {
        // The user may have been created after the copy was last updated.
        if !copy.catch_up().await {
            return if row.before_login() { Ok(()) } else { Err(unreached()) };
        }
        login = api.login_of_known(connection, &known)?;
    }
    let mut logins = connection.logins.lock();
    (logins.current, logins.known) = (login, None);
    Ok(())
}

/// Checks the rights of a sender ([`check_rights`]). If that fails and the first shard stores the
/// users, updates the local copy of the users and checks again.
pub(crate) async fn check_rights_of_now(call: &Call<'_>, row: &'static CommandRow) -> Result<()> {
    prepare_rights(call, row).await?;
    let checked = check_rights(call, row);
    let (Err(_), Some(copy)) = (&checked, call.api.users.copy()) else { return checked };
    if call.connection.logins.lock().current.is_none() {
        return checked;
    }
    copy.catch_up().await;
    check_rights(call, row)
}

/// Returns whether the user's restrictions admit this connection's addresses.
pub(crate) fn restrictions_admit(connection: &Connection, user: &User) -> bool {
    if user.restrictions.is_empty() {
        return true;
    }
    match (connection.peer_address(), connection.reached_at) {
        (Some(client), Some(server)) => {
            Restriction::list_admits(&user.restrictions, client, server)
        }
        _ => false,
    }
}

/// Returns error 13 with the command's name and its first argument only: other arguments may hold
/// data that must not appear in a log.
fn refusal(call: &Call<'_>) -> Error {
    let first = call.body.iter().next().map(|(_, value)| value);
    let about = match first {
        Some(document::ValueRef::String(text)) => {
            format!("\"{}\"", text.chars().take(128).collect::<String>())
        }
        Some(value) if value.is_number() => "1".to_owned(),
        _ => "...".to_owned(),
    };
    let (database, name) = (call.database, call.name);
    let text = format!(
        "not authorized on {database} to execute command {{ {name}: {about}, $db: \"{database}\" }}"
    );
    Error::new(Unauthorized, text)
}
