//! `startSession`, `refreshSessions`, and the commands that end sessions: they close cursors and
//! abort transactions, and the `kill` commands also stop running operations. Any id is valid.
//!
//! ```text
//! {killSessions: [{id: UUID}, ..]}                 the sender's own sessions; [] all of them
//! {killAllSessions: [{user, db}, ..]}              all sessions of users; [] of all users
//! {killAllSessionsByPattern: [{lsid: {id, uid}} | {uid} | {}, ..]}
//! {endSessions: [{id: UUID}, ..]}                  cursors and transactions, when a client leaves
//! ```
//!
//! In a cluster the `kill` commands act on all shards, and `endSessions` on one.

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};

use crate::{
    access::{Action, UserName},
    arguments::Args,
    call::Call,
    errors::{
        Error, InvalidUUID, Result, TypeMismatch, Unauthorized, UnsupportedFormat, UserNotFound,
    },
    limits::SESSION_MINUTES,
    operation::StopReason,
    replies::ok,
    rights::{Object, Requirement},
    session::{SessionId, session_id},
    session_set::{SessionSet, UserDigest, user_digest},
};

/// Runs `startSession`: returns a new id. Drivers generate ids themselves.
pub(super) async fn start_session(_: &Call<'_>) -> Result<DocBuf> {
    let mut bytes: Vec<u8> = (0..16).map(|_| fastrand::u8(..)).collect();
    // UUID version 4, variant 1.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    ok(doc! {
        "id": doc! { "id": Value::Binary { subtype: 4, bytes } },
        "timeoutMinutes": SESSION_MINUTES,
    })
}

/// Runs `refreshSessions`: only checks the ids. Sessions do not expire.
pub(super) async fn refresh_sessions(call: &Call<'_>) -> Result<DocBuf> {
    named_sessions(call, "refreshSessions", "refreshSessionsFromClient")?;
    ok(doc! {})
}

/// Runs `endSessions`: aborts the transactions of sessions and closes their cursors. Running operations continue: clients send
/// this while an unacknowledged write may still run.
pub(super) async fn end_sessions(call: &Call<'_>) -> Result<DocBuf> {
    let ended = named_sessions(call, "endSessions", "endSessionsFromClient")?;
    call.api.abort_transactions_of(&ended);
    call.api.cursors.kill_sessions(&ended, StopReason::CursorKilled);
    ok(doc! {})
}

/// Runs `killSessions`. An empty list means all sessions of the sender.
pub(super) async fn kill_sessions(call: &Call<'_>) -> Result<DocBuf> {
    let mut killed = named_sessions(call, "KillSessionsCmd", "killSessions")?;
    if killed.single.is_empty() {
        killed.users.insert(user_digest(call.connection.sender().user.as_ref()));
    }
    kill(call, &killed).await
}

/// Runs `killAllSessions`. Fails with 11 if a user is unknown.
pub(super) async fn kill_all_sessions(call: &Call<'_>) -> Result<DocBuf> {
    let mut killed = SessionSet::default();
    let elements = elements(call, "KillAllSessionsCmd")?;
    killed.all = elements.is_empty();
    for user in elements {
        let args = Args::new("KillAllSessionsCmd.killAllSessions", user);
        let name = named_user(&args)?;
        if call.api.users.user(&name)?.is_none() {
            let message =
                format!("Could not find user \"{}\" for db \"{}\"", name.user, name.database);
            return Err(Error::new(UserNotFound, message));
        }
        killed.users.insert(user_digest(Some(&name)));
    }
    kill(call, &killed).await
}

/// Runs `killAllSessionsByPattern`. `users` and `roles` of a pattern tell on whose behalf a router
/// acts; they select no sessions, so only their format is checked.
pub(super) async fn kill_by_pattern(call: &Call<'_>) -> Result<DocBuf> {
    let of = "KillAllSessionsByPatternCmd.killAllSessionsByPattern";
    let mut killed = SessionSet::default();
    let patterns = elements(call, "KillAllSessionsByPatternCmd")?;
    killed.all = patterns.is_empty();
    for pattern in patterns {
        let args = Args::new(of, pattern);
        args.allow_only(&["lsid", "uid", "users", "roles"])?;
        for (list, name) in [("users", "user"), ("roles", "role")] {
            check_names(&args, list, name)?;
        }
        let user = parse_user(&args)?;
        match args.document("lsid")? {
            Some(lsid) => {
                let path = format!("{of}.lsid");
                let lsid = Args::new(&path, lsid);
                let id = parse_id(&lsid)?;
                let user = parse_user(&lsid)?.ok_or_else(|| lsid.missing_field("uid"))?;
                killed.single.insert((id, user));
            }
            None => match user {
                Some(user) => drop(killed.users.insert(user)),
                None => killed.all = true,
            },
        }
    }
    kill(call, &killed).await
}

/// Stops the operations of sessions, except this command, and closes their cursors, in all shards
/// of a cluster.
async fn kill(call: &Call<'_>, killed: &SessionSet) -> Result<DocBuf> {
    for connection in call.api.connections() {
        let running = connection.running_command();
        let Some(running) = running.filter(|_| connection.id != call.connection.id) else {
            continue;
        };
        if killed.has(session_id(running.command.as_ref()), &connection.sender()) {
            connection.stop_command(Some(running.id), StopReason::Killed);
        }
    }
    call.api.abort_transactions_of(killed);
    // Closed after the operations were cancelled, since a cancelled operation opens no cursor.
    call.api.cursors.kill_sessions(killed, StopReason::Killed);
    if let Some(other_shards) = call.other_shards() {
        let ask = doc! { "killAllSessionsByPattern": Value::Array(as_patterns(killed)) };
        other_shards.ask(ask, &call.api.settings.memory).await?;
    }
    ok(doc! {})
}

/// Returns a set of sessions as patterns of `killAllSessionsByPattern`.
fn as_patterns(killed: &SessionSet) -> Vec<Value> {
    if killed.all {
        return Vec::new();
    }
    let uid = |user: &UserDigest| Value::Binary { subtype: 0, bytes: user.to_vec() };
    let users = killed.users.iter().map(|user| doc! { "uid": uid(user) });
    let single = killed.single.iter().map(|(id, user)| {
        let id = Value::Binary { subtype: 4, bytes: id.to_vec() };
        doc! { "lsid": doc! { "id": id, "uid": uid(user) } }
    });
    users.chain(single).map(|pattern: Document| Value::Document(pattern)).collect()
}

/// Returns the sessions in a list of ids. An id without a user names a session of the sender.
///
/// Fails with 13 if a session belongs to another user and the sender lacks the right to kill any
/// session.
fn named_sessions(call: &Call<'_>, command: &str, element: &str) -> Result<SessionSet> {
    let own = user_digest(call.connection.sender().user.as_ref());
    let path = format!("{command}.{element}");
    let mut named = SessionSet::default();
    for session in elements(call, command)? {
        let args = Args::new(&path, session);
        args.allow_only(&["id", "uid"])?;
        let user = parse_user(&args)?;
        let id = parse_id(&args)?;
        let any = Requirement::of(Action::KillAnySession, Object::Server);
        if user.is_some_and(|user| user != own) && !call.api.permits(call.connection, &[any]) {
            let message = "Unauthorized to set user digest in LogicalSessionId";
            return Err(Error::new(Unauthorized, message));
        }
        named.single.insert((id, user.unwrap_or(own)));
    }
    Ok(named)
}

/// Returns the documents in the command's list. `of` is the command's name in errors; null elements
/// are skipped, as in mongod.
fn elements<'a>(call: &Call<'a>, of: &str) -> Result<Vec<DocRef<'a>>> {
    let args = Args::new(of, call.body);
    args.need_array(call.name)?;
    let array = call.body.get(call.name).and_then(ValueRef::as_array);
    let mut elements = Vec::new();
    for (at, value) in array.into_iter().flat_map(|array| array.iter()).enumerate() {
        match value {
            ValueRef::Document(element) => elements.push(element),
            value if value.is_nullish() => {}
            value => {
                return Err(args.wrong_type(&format!("{}.{at}", call.name), value, " 'object'"));
            }
        }
    }
    Ok(elements)
}

/// Returns the `id` of a session: a UUID.
fn parse_id(args: &Args<'_>) -> Result<SessionId> {
    match args.get("id") {
        None => Err(args.missing_field("id")),
        Some(ValueRef::Binary { subtype: 4, bytes }) => bytes.try_into().map_err(|_| {
            let message = "uuid must be a 16-byte binary field with UUID (4) subtype";
            Error::new(InvalidUUID, message)
        }),
        Some(ValueRef::Binary { .. }) => {
            let message = format!(
                "BSON field '{}.id' is the wrong binData type, expected type 'UUID'",
                args.of
            );
            Err(Error::new(TypeMismatch, message))
        }
        Some(value) => Err(args.wrong_type("id", value, " 'binData'")),
    }
}

/// Returns the `uid` in a session id: the digest of the user's name; `None` if it is missing.
fn parse_user(args: &Args<'_>) -> Result<Option<UserDigest>> {
    match args.get("uid") {
        None => Ok(None),
        Some(ValueRef::Binary { subtype: 0, bytes }) => bytes.try_into().map(Some).map_err(|_| {
            let message = format!("Unsupported SHA256Block hash length: {}", bytes.len());
            Error::new(UnsupportedFormat, message)
        }),
        Some(ValueRef::Binary { .. }) => {
            let message = format!(
                "BSON field '{}.uid' is the wrong binData type, expected type 'general'",
                args.of
            );
            Err(Error::new(TypeMismatch, message))
        }
        Some(value) => Err(args.wrong_type("uid", value, " 'binData'")),
    }
}

/// Returns the user that a document names.
pub(super) fn named_user(args: &Args<'_>) -> Result<UserName> {
    args.allow_only(&["user", "db"])?;
    let (name, database) = (args.need_str("user")?, args.need_str("db")?);
    Ok(UserName::new(name, database))
}

/// Checks the format of a list of users or roles.
fn check_names(args: &Args<'_>, list: &str, name: &str) -> Result<()> {
    if args.get(list).is_none() {
        return Ok(());
    }
    let path = format!("{}.{list}", args.of);
    for element in args.documents(list)? {
        let element = Args::new(&path, element);
        element.allow_only(&[name, "db"])?;
        element.need_str(name)?;
        element.need_str("db")?;
    }
    Ok(())
}
