//! `$listLocalSessions` and `$listSessions`: the sessions with a running operation or an open
//! cursor on this server. No other state is kept of a session, so idle ones are not listed.
//! Drivers' tests use the first stage as an aggregate without a collection: it finds the session of
//! the command itself.
//!
//! ```text
//! {aggregate: 1, pipeline: [{$listLocalSessions: {allUsers: bool, users: [{user, db}, ..]}}], cursor: {}}
//! {aggregate: "system.sessions", pipeline: [{$listSessions: ..}], cursor: {}, $db: "config"}    the same
//! => {_id: {id: UUID, uid: digest}, lastUse: date, user: "name@db"}    `user` only with a login
//! ```

use std::{
    collections::{BTreeMap, btree_map::Entry},
    time::Duration,
};

use document::{Document, Value, ValueRef, doc};
use engine::Namespace;
use memory::Share;

use super::sessions::named_user;
use crate::{
    access::{Action, UserName},
    arguments::Args,
    authorize::check_requirements,
    call::Call,
    client::Sender,
    cursor_description::Clocks,
    errors::{Error, InvalidNamespace, Result, TypeMismatch, UnsupportedFormat},
    rights::{Object, Requirement, is_set},
    session::{SessionId, session_id},
    session_set::{SessionSet, UserDigest, user_digest},
};

/// The stage for the sessions of this server, which reads no collection.
pub(super) const LOCAL: &str = "$listLocalSessions";
/// The stage for the sessions that MongoDB stores in a collection.
pub(super) const STORED: &str = "$listSessions";

/// MongoDB's collection of stored sessions.
const STORED_IN: (&str, &str) = ("config", "system.sessions");

/// Memory charged for each listed session until the reply is built, in bytes.
const ENTRY_BYTES: usize = 2 * 1024;

/// For each session, the time of its last use and its user.
type SessionUses = BTreeMap<(SessionId, UserDigest), (Duration, Option<UserName>)>;

/// Returns the rights that `$listLocalSessions` or `$listSessions` requires: none for the sender's
/// own sessions. Named users are compared with the sender when the stage runs.
pub(super) fn stage_needs(spec: ValueRef<'_>) -> Vec<Requirement> {
    let all = spec.as_document().is_some_and(|spec| is_set(spec, "allUsers"));
    if all { vec![sessions_of_all()] } else { Vec::new() }
}

fn sessions_of_all() -> Requirement {
    Requirement::of(Action::ListSessions, Object::Server)
}

/// Returns the documents of a `$listLocalSessions` or `$listSessions` at the start of a pipeline.
///
/// Fails with 73 if the stage may not run on this collection, with 14, 12, 40414 or 40415 if an
/// option is invalid, and with 13 if the right to see other users' sessions is missing.
pub(super) async fn list_stage(
    call: &Call<'_>,
    namespace: &Namespace,
    stage: &str,
    spec: ValueRef<'_>,
) -> Result<Vec<Document>> {
    let is_stored = (namespace.database.as_str(), namespace.collection.as_str()) == STORED_IN;
    if stage == STORED && !is_stored {
        let message = format!("{STORED} may only be run against config.system.sessions");
        return Err(Error::new(InvalidNamespace, message));
    }
    let wanted = parse_users(call, stage, spec)?;
    if stage == LOCAL && !call.body.get("aggregate").is_some_and(ValueRef::is_number) {
        let message = format!("'{LOCAL}' can only be run with {{aggregate: 1}}");
        return Err(Error::new(InvalidNamespace, message));
    }
    let now_ms = call.api.engine.now().await?.ms;
    let clocks = Clocks { now_ms, monotonic: clock::monotonic_time() };
    let mut held = call.api.settings.memory.share();
    let found = find_sessions(call, &wanted, clocks.monotonic, &mut held)?;
    Ok(found.into_iter().map(|(key, found)| entry(key, found, clocks)).collect())
}

/// Returns the sessions to list. Without options these are the sessions of the sender.
fn parse_users(call: &Call<'_>, stage: &str, spec: ValueRef<'_>) -> Result<SessionSet> {
    let Some(spec) = spec.as_document() else {
        let kind = spec.kind().name();
        let message = format!("{stage} options must be specified in an object, but found: {kind}");
        return Err(Error::new(TypeMismatch, message));
    };
    let args = Args::new(stage, spec);
    args.allow_only(&["allUsers", "users"])?;
    let all = args.bool("allUsers")?.unwrap_or(false);
    let users = user_names(&args)?;
    if all && !users.is_empty() {
        let message = format!(
            "{stage} may not specify {{allUsers:true}} and {{users:[...]}} at the same time"
        );
        return Err(Error::new(UnsupportedFormat, message));
    }
    let own = call.connection.sender().user;
    if users.iter().any(|user| own.as_ref() != Some(user)) {
        check_requirements(call, &[sessions_of_all()])?;
    }
    let mut wanted = SessionSet { all, ..SessionSet::default() };
    wanted.users.extend(users.iter().map(|user| user_digest(Some(user))));
    if users.is_empty() {
        wanted.users.insert(user_digest(own.as_ref()));
    }
    Ok(wanted)
}

/// Reads the named users; null elements are skipped.
fn user_names(args: &Args<'_>) -> Result<Vec<UserName>> {
    let path = format!("{}.users", args.of);
    let mut names = Vec::new();
    for (at, user) in args.array("users")?.into_iter().flat_map(|users| users.iter()).enumerate() {
        match user {
            ValueRef::Document(user) => names.push(named_user(&Args::new(&path, user))?),
            user if user.is_nullish() => {}
            user => return Err(args.wrong_type(&format!("users.{at}"), user, " 'object'")),
        }
    }
    Ok(names)
}

/// Finds the wanted sessions: those of this command, of other running operations, and of open
/// cursors.
fn find_sessions(
    call: &Call<'_>,
    wanted: &SessionSet,
    now: Duration,
    held: &mut Share,
) -> Result<SessionUses> {
    let mut found = SessionUses::new();
    let mut note = |session: Option<SessionId>, sender: &Sender, used: Duration| -> Result<()> {
        let Some(id) = session.filter(|_| wanted.has(session, sender)) else { return Ok(()) };
        match found.entry((id, user_digest(sender.user.as_ref()))) {
            Entry::Vacant(entry) => {
                held.grow(ENTRY_BYTES)?;
                entry.insert((used, sender.user.clone()));
            }
            Entry::Occupied(mut entry) => {
                let last = &mut entry.get_mut().0;
                *last = used.max(*last);
            }
        }
        Ok(())
    };
    note(session_id(call.body), &call.connection.sender(), now)?;
    for connection in call.api.connections() {
        if let Some(running) = connection.running_command() {
            note(session_id(running.command.as_ref()), &connection.sender(), now)?;
        }
    }
    for (session, owner, used) in call.api.cursors.sessions() {
        note(Some(session), &owner, used)?;
    }
    Ok(found)
}

/// Returns the document that describes a session in the result of `$listLocalSessions` or
/// `$listSessions`.
fn entry(
    (id, user): (SessionId, UserDigest),
    (used, name): (Duration, Option<UserName>),
    clocks: Clocks,
) -> Document {
    let mut out = doc! {
        "_id": doc! {
            "id": Value::Binary { subtype: 4, bytes: id.to_vec() },
            "uid": Value::Binary { subtype: 0, bytes: user.to_vec() },
        },
        "lastUse": clocks.date_of(used),
    };
    if let Some(name) = name {
        out.push("user", format!("{}@{}", name.user, name.database));
    }
    out
}
