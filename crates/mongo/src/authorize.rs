//! Whether the sender of a command may have it run: what its row asks for is held against what the
//! sender's roles give. A server that asks nobody to log in permits everything.
//!
//! Senders who came through the portal are not users: the portal has asked them for the account's key
//! or let them in on an open address, and says whether they may write.

use std::sync::Arc;

use engine::Store;

use crate::{
    access::{Restriction, User, UserName},
    call::Call,
    client::Connection,
    command_row::CommandRow,
    door::Door,
    errors::{CommandNotSupported, Error, Result, Unauthorized},
    login::{KnownUser, Login},
    operation::Operation,
    rights::Need,
    users_copy::unreached,
};

impl<S: Store> Door<S> {
    /// Whether a connection's commands are those of users who have to log in.
    pub(crate) fn asks_for_login(&self, connection: &Connection) -> bool {
        let asks = self.settings.asks_for_login || connection.has_to_log_in;
        asks && connection.relayed_sender.is_none()
    }

    /// Who is logged in on a connection, with the rights of this moment. A user who is no more is not
    /// logged in any longer.
    pub(crate) fn login_of(&self, connection: &Connection) -> Option<Arc<Login>> {
        let login = connection.logins.lock().current.clone()?;
        if login.seen == self.users.changes() {
            return Some(login);
        }
        let current = match self.login_as(&login.name) {
            Ok(current) => current
                .filter(|(user, now)| now.id == login.id && may_come_from(connection, user))
                .map(|(_, now)| now),
            Err(error) => {
                tracing::error!(user = %login.name, error = error.message, "a user may do nothing");
                None
            }
        };
        let mut logins = connection.logins.lock();
        // Only what was looked at is replaced: another command of the connection may have come first.
        if logins.current.as_ref().is_some_and(|held| Arc::ptr_eq(held, &login)) {
            logins.current.clone_from(&current);
        }
        current
    }

    /// The user of this name, and a login with the user's rights of this moment. The number of changes
    /// is read first: what changes later is then seen.
    pub(crate) fn login_as(&self, name: &UserName) -> Result<Option<(User, Arc<Login>)>> {
        let seen = self.users.changes();
        let Some(user) = self.users.user(name)? else { return Ok(None) };
        let user = user.value;
        let (roles, privileges) = self.users.expand(&user.roles);
        let login = Login { name: name.clone(), id: user.id, roles, privileges, seen };
        Ok(Some((user, Arc::new(login))))
    }

    /// The login of a user whom another server has let in; `None`: there is no such user any more.
    fn login_of_known(
        &self,
        connection: &Connection,
        known: &KnownUser,
    ) -> Result<Option<Arc<Login>>> {
        let found = self.login_as(&known.name())?;
        let is_it = |user: &User| user.id == known.id && may_come_from(connection, user);
        Ok(found.filter(|(user, _)| is_it(user)).map(|(_, login)| login))
    }

    /// Whether a connection may do one of these to each of the objects, whichever user it is.
    pub(crate) fn permits(&self, connection: &Connection, needs: &[Need]) -> bool {
        if !self.asks_for_login(connection) {
            return true;
        }
        let login = self.login_of(connection);
        login.is_some_and(|login| needs.iter().all(|need| need.is_met(&login.privileges)))
    }
}

/// Checks that the sender of a command may have it run.
///
/// Errors: 13 without a login where one is needed, and without the right; the text of both is what
/// applications and drivers look for.
fn check_rights<S: Store>(call: &Call<'_, S>, row: &'static CommandRow) -> Result<()> {
    if row.before_login() || !call.door.asks_for_login(call.connection) {
        return Ok(());
    }
    let Some(login) = call.door.login_of(call.connection) else {
        let text = format!("Command {} requires authentication", call.name);
        return Err(Error::new(Unauthorized, text));
    };
    let needs = row.rights.needs(&call.asked()?)?;
    if !needs.iter().all(|need| need.is_met(&login.privileges)) {
        return Err(refusal(call));
    }
    // A cursor that the command opens goes on only as long as they are met.
    call.operation.note_needs(needs);
    Ok(())
}

/// Checks that the sender of a command may also do this, which only shows while it runs.
pub(crate) fn check_needs<S: Store>(call: &Call<'_, S>, needs: &[Need]) -> Result<()> {
    if call.door.permits(call.connection, needs) { Ok(()) } else { Err(refusal(call)) }
}

/// Checks that the sender may still do what the operation of its cursor asked for when it began.
pub(crate) fn check_still_permitted<S: Store>(
    call: &Call<'_, S>,
    operation: &Operation,
) -> Result<()> {
    check_needs(call, &operation.needs())
}

/// Checks that users are kept here. Only a command that says itself that it is one shard's comes to another.
///
/// Errors: 115 where the first shard of the cluster keeps them.
pub(crate) fn check_users<S: Store>(call: &Call<'_, S>) -> Result<()> {
    match call.door.users.copy() {
        None => Ok(()),
        Some(_) => {
            let text = "users and logins are those of the first shard of the cluster";
            Err(Error::new(CommandNotSupported, text))
        }
    }
}

/// Makes ready what the rights of the sender are found by: who is logged in, where another server has let
/// the user in, and users and roles, where the first shard of the cluster keeps them.
///
/// Errors: 91 where that is not reached, and a command needs to know.
pub(crate) async fn prepare_rights<S: Store>(
    call: &Call<'_, S>,
    row: &'static CommandRow,
) -> Result<()> {
    let (door, connection) = (call.door, call.connection);
    if !door.asks_for_login(connection) {
        return Ok(());
    }
    if !connection.logins.lock().is_anybody() {
        return Ok(());
    }
    if let Some(copy) = door.users.copy()
        && let Err(unreached) = copy.check_good().await
    {
        // Who the user is stays open then.
        return if row.before_login() { Ok(()) } else { Err(unreached) };
    }
    let Some(known) = connection.logins.lock().known.clone() else { return Ok(()) };
    let mut login = door.login_of_known(connection, &known)?;
    if login.is_none()
        && let Some(copy) = door.users.copy()
    {
        // The user may be newer than what is known here.
        if !copy.catch_up().await {
            return if row.before_login() { Ok(()) } else { Err(unreached()) };
        }
        login = door.login_of_known(connection, &known)?;
    }
    let mut logins = connection.logins.lock();
    (logins.current, logins.known) = (login, None);
    Ok(())
}

/// Checks the rights of a sender ([`check_rights`]), once more where the first shard of the cluster may have
/// given others since it was asked last.
pub(crate) async fn check_rights_of_now<S: Store>(
    call: &Call<'_, S>,
    row: &'static CommandRow,
) -> Result<()> {
    prepare_rights(call, row).await?;
    let checked = check_rights(call, row);
    let (Err(_), Some(copy)) = (&checked, call.door.users.copy()) else { return checked };
    if call.connection.logins.lock().current.is_none() {
        return checked;
    }
    copy.catch_up().await;
    check_rights(call, row)
}

/// Whether the user may be logged in on a connection from where it comes.
pub(crate) fn may_come_from(connection: &Connection, user: &User) -> bool {
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

/// 13 with a text that has the command's name and its first argument and nothing else of it: what a
/// sender may not do may hold what others must not see in a log.
fn refusal<S: Store>(call: &Call<'_, S>) -> Error {
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
