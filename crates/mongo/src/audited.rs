//! The MongoDB API's events of the audit log: logins, refusals, and commands that change anything
//! but documents. An event has the command's name and object and no other arguments.

use audit::{Api, Event};
use document::{DocBuf, ValueRef};

use crate::{
    api::MongoApi,
    call::Call,
    client::Connection,
    command_row::{CommandRow, Work},
    errors::{Result, Unauthorized},
    rights::Rights,
};

/// Logs a command that ran or was refused, if it belongs in the audit log.
pub(crate) fn record_command(call: &Call<'_>, row: &CommandRow, reply: &Result<DocBuf>) {
    if call.api.settings.audit.is_none() {
        return;
    }
    let code = reply.as_ref().err().map_or(0, |error| error.code);
    let changes = row.work == Work::Command && !call.api.commands.changes_nothing(call.body);
    if changes || code == Unauthorized {
        let object = match call.body.get(row.collection_in.unwrap_or(row.name)) {
            Some(ValueRef::String(name)) => format!("{}.{name}", call.database),
            _ => call.database.to_owned(),
        };
        let user = call.connection.sender().user.map(|user| user.to_string());
        let requires_right = !matches!(row.rights, Rights::Open | Rights::Login);
        let event = CommandEvent { action: row.name, user: user.as_deref(), object: &object, code };
        note(call.api, call.connection, event, requires_right);
    }
}

/// Logs a login as this user by a mechanism, successful (code 0) or not.
pub(crate) fn record_login(call: &Call<'_>, user: &str, mechanism: &str, code: i32) {
    let event = CommandEvent { action: "login", user: Some(user), object: mechanism, code };
    note(call.api, call.connection, event, true);
}

/// An audit event before the sender's address is added.
struct CommandEvent<'a> {
    action: &'a str,
    user: Option<&'a str>,
    object: &'a str,
    code: i32,
}

/// Logs an event. Events that require no right are rate limited like refusals, since any client
/// could fill the disk with them.
fn note(api: &MongoApi, connection: &Connection, event: CommandEvent<'_>, requires_right: bool) {
    let Some(log) = &api.settings.audit else { return };
    let api = if connection.relayed_sender.is_some() { Api::Admin } else { Api::Mongo };
    let peer = connection.peer.as_str();
    let CommandEvent { action, user, object, code } = event;
    let event = Event { api, action, peer, user, object, outcome: code.into() };
    match requires_right {
        true => log.note(&event),
        false => log.note_unprivileged(&event),
    }
}
