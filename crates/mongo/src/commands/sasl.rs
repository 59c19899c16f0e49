//! Logging in: `saslStart` and `saslContinue` with SCRAM, and the same inside a handshake, which spares
//! a round trip.
//!
//! ```text
//! {saslStart: 1, mechanism: "SCRAM-SHA-256", payload: client-first, options: {skipEmptyExchange: true}}
//! => {conversationId: 1, done: false, payload: server-first, ok: 1}
//! {saslContinue: 1, conversationId: 1, payload: client-final}
//! => {conversationId: 1, done: true, payload: server-final, ok: 1}
//! ```
//!
//! Whatever is wrong with a login is error 18 with one text, so that nobody learns which users there
//! are; what it was stands in the log. A connection has one login under way, and each failure ends it.

use std::{sync::Arc, time::Duration};

use auth::scram::{ClientFirst, Exchange, Failed, Mechanism, Verifier, make_nonce};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::Store;

use crate::{
    access::{User, UserName},
    arguments::Args,
    audited::note_login,
    authorize::{check_users, may_come_from},
    call::Call,
    door::Topology,
    errors::{
        AuthenticationFailed, BadValue, Error, MechanismUnavailable, ProtocolError, Result,
        ShutdownInProgress, TypeMismatch,
    },
    limits::LOGIN_WAIT,
    login::{Conversation, Step},
    passwords::verifier_of,
    pause::sleep,
    replies::ok,
    users::random_bytes,
};

/// Arguments of `saslStart`.
pub(super) const START_FIELDS: &[&str] =
    &["mechanism", "payload", "autoAuthorize", "options", "db"];
/// Arguments of `saslContinue`.
pub(super) const CONTINUE_FIELDS: &[&str] = &["conversationId", "payload"];

/// What anybody is told whose login failed.
fn refused() -> Error {
    Error::new(AuthenticationFailed, "Authentication failed.")
}

/// What is answered to a mechanism that is not offered.
pub(super) fn unknown_mechanism(named: &str) -> Error {
    let shown: String = named.chars().take(64).collect();
    let text =
        format!("Received authentication for mechanism {shown} which is unknown or not enabled");
    Error::new(MechanismUnavailable, text)
}

/// The bytes of a message of SCRAM: binary, or base64 as shells of long ago sent it.
fn payload(args: &Args<'_>) -> Result<Vec<u8>> {
    match args.get("payload") {
        Some(ValueRef::Binary { bytes, .. }) => Ok(bytes.to_vec()),
        Some(ValueRef::String(text)) => STANDARD.decode(text).map_err(|_| refused()),
        Some(other) => Err(args.wrong_type("payload", other, " 'binData'")),
        None => Err(args.missing_field("payload")),
    }
}

/// Runs `saslStart`.
pub(super) async fn start<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    ok(begin(call, call.body, call.database).await?)
}

/// Begins a login, which replaces the one that was under way.
///
/// Errors: 334 for a mechanism that is not offered, 18 for everything else that is wrong.
pub(super) async fn begin<S: Store>(
    call: &Call<'_, S>,
    body: DocRef<'_>,
    database: &str,
) -> Result<Document> {
    check_users(call)?;
    let args = Args::new("saslStart", body);
    call.connection.logins.lock().under_way = None;
    let named = args.need_str("mechanism")?;
    let Some(mechanism) = Mechanism::from_name(named) else {
        return Err(unknown_mechanism(named));
    };
    let skips_empty = match args.document("options")? {
        Some(options) => matches!(options.get("skipEmptyExchange"), Some(ValueRef::Bool(true))),
        None => false,
    };
    let first = ClientFirst::parse(&payload(&args)?)
        .map_err(|malformed| note_failure(call, None, &malformed.to_string()))?;
    let name = UserName { user: first.user.clone(), database: database.to_owned() };
    wait_for_turn(call, &name).await?;
    let user = call.door.users.user(&name)?.map(|user| user.value);
    let user = user.filter(|user| may_come_from(call.connection, user));
    // That a user has no password for a mechanism, a handshake tells anyway; a driver that hears of it
    // takes another one.
    if user.as_ref().is_some_and(|user| user.credentials.of(mechanism.name()).is_none()) {
        return Err(note_failure(call, Some(&name), "a user without a password for the mechanism"));
    }
    let verifier = user.as_ref().and_then(|user| verifier_of(&user.credentials, mechanism));
    // Made for known users too, so that the time does not tell who is one.
    let fake = Verifier::fake(mechanism, &name.to_string(), &call.door.users.secret_key().await?);
    let (verifier, user) = match verifier {
        Some(verifier) => (verifier, user),
        None => (fake, None),
    };
    let nonce = make_nonce(&random_bytes()?);
    let (exchange, reply) = Exchange::begin(mechanism, &first, verifier, &nonce);
    let step = Step::Proof(Box::new(exchange), user.map(Box::new));
    let mut logins = call.connection.logins.lock();
    logins.last = logins.last.wrapping_add(1);
    let id = logins.last;
    logins.under_way = Some(Conversation { id, name, mechanism, skips_empty, step });
    Ok(step_reply(id, false, reply))
}

/// Runs `saslContinue`: the client's proof, or the empty message behind it.
///
/// Errors: 17 without a login under way and for the number of another one, 18 for a wrong proof.
pub(super) async fn proceed<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let args = call.args();
    // Taken out: a message that is not the right one ends the login.
    let Some(conversation) = call.connection.logins.lock().under_way.take() else {
        return Err(without_conversation(call));
    };
    let id = args.get("conversationId").and_then(document::Number::of);
    if id.and_then(document::Number::to_i64_exact) != Some(conversation.id.into()) {
        return Err(Error::new(ProtocolError, "sasl: Mismatched conversation id"));
    }
    let payload = payload(&args)?;
    let Conversation { id, name, mechanism, skips_empty, step } = conversation;
    match step {
        Step::Proof(exchange, user) => {
            // Others may have guessed wrong since this one began: then it is not even looked at.
            if 0 < time_to_wait(call, &name).as_millis() {
                return Err(note_failure(call, Some(&name), "too many wrong passwords"));
            }
            let (reply, user) = match (exchange.finish(&payload), user) {
                (Ok(reply), Some(user)) => (reply, user),
                (Err(Failed::Malformed(malformed)), _) => {
                    return Err(note_failure(call, Some(&name), &malformed.to_string()));
                }
                (Ok(_) | Err(Failed::WrongProof), _) => {
                    note_wrong(call, &name);
                    return Err(note_failure(call, Some(&name), "a wrong name or password"));
                }
            };
            if skips_empty {
                log_in(call, &user, mechanism.name())?;
            } else {
                let step = Step::Empty(user);
                let rest = Conversation { id, name, mechanism, skips_empty, step };
                call.connection.logins.lock().under_way = Some(rest);
            }
            ok(step_reply(id, skips_empty, reply))
        }
        Step::Empty(user) if payload.is_empty() => {
            log_in(call, &user, mechanism.name())?;
            ok(step_reply(id, true, Vec::new()))
        }
        Step::Empty(_) => Err(note_failure(call, Some(&name), "a message behind the last one")),
    }
}

/// What is answered to a message of a login that is not under way. In a cluster it may have begun with a
/// server that is gone: drivers begin again.
fn without_conversation<S: Store>(call: &Call<'_, S>) -> Error {
    match call.door.settings.topology {
        Topology::Standalone => Error::new(ProtocolError, "No SASL session state found"),
        Topology::Router => Error::new(
            ShutdownInProgress,
            "the server that began this login does not go on with it: log in again",
        ),
    }
}

fn step_reply(id: i32, done: bool, bytes: Vec<u8>) -> Document {
    doc! {
        "conversationId": id,
        "done": done,
        "payload": Value::Binary { subtype: 0, bytes },
    }
}

/// Logs a user in on the connection, in the place of whoever was. One who was removed, made anew or
/// restricted to other addresses while the login was under way is not.
fn log_in<S: Store>(call: &Call<'_, S>, user: &User, mechanism: &str) -> Result<()> {
    let now = call.door.login_as(&user.name)?;
    let same = |now: &User| now.id == user.id && now.credentials == user.credentials;
    let may = |now: &User| same(now) && may_come_from(call.connection, now);
    let Some((_, login)) = now.filter(|(now, _)| may(now)) else {
        return Err(note_failure(call, Some(&user.name), "the user has changed meanwhile"));
    };
    call.connection.logins.lock().log_in(login);
    note_login(call, &user.name.to_string(), mechanism, 0);
    tracing::debug!(
        user = user.name.to_string(),
        peer = call.connection.peer,
        mechanism,
        "logged in"
    );
    Ok(())
}

/// Logs what is wrong with a login, and returns what the client is told of it.
pub(super) fn note_failure<S: Store>(
    call: &Call<'_, S>,
    name: Option<&UserName>,
    why: &str,
) -> Error {
    let name = name.map(|name| name.to_string().chars().take(128).collect::<String>());
    let (peer, name) = (&call.connection.peer, name.as_deref().unwrap_or_default());
    call.door.login_failures.report_login(peer, name, why);
    note_login(call, name, why, AuthenticationFailed);
    refused()
}

fn time_to_wait<S: Store>(call: &Call<'_, S>, name: &UserName) -> Duration {
    let now = clock::monotonic_time();
    call.door.backoff.time_to_wait(call.connection.peer_address(), &name.to_string(), now)
}

fn note_wrong<S: Store>(call: &Call<'_, S>, name: &UserName) {
    let now = clock::monotonic_time();
    call.door.backoff.note_wrong(call.connection.peer_address(), &name.to_string(), now);
}

/// Waits as long as wrong passwords of late ask for it. Who would have to wait long is refused.
async fn wait_for_turn<S: Store>(call: &Call<'_, S>, name: &UserName) -> Result<()> {
    let wait = time_to_wait(call, name);
    if LOGIN_WAIT < wait {
        return Err(note_failure(call, Some(name), "too many wrong passwords"));
    }
    if !wait.is_zero() {
        sleep(wait).await;
    }
    Ok(())
}

/// What a handshake says of logins: the mechanisms of the user that the client asks about, and the first
/// step of a login that it carries.
pub(super) async fn in_handshake<S: Store>(call: &Call<'_, S>, reply: &mut Document) -> Result<()> {
    let args = call.args();
    if let Some(asked) = args.get("saslSupportedMechs") {
        let ValueRef::String(asked) = asked else {
            return Err(Error::new(TypeMismatch, "saslSupportedMechs has to be text"));
        };
        let Some((database, user)) = asked.split_once('.') else {
            let text = "UserName must contain a '.' separated database.user";
            return Err(Error::new(BadValue, text));
        };
        let name = UserName::new(user, database);
        let user = call.door.users.user(&name)?;
        // An unknown user looks like one who may use all of them.
        let names = match &user {
            Some(user) => user.value.mechanisms(),
            None => vec![Mechanism::Sha1.name(), Mechanism::Sha256.name()],
        };
        let names = names.into_iter().map(Value::from).collect();
        reply.push("saslSupportedMechs", Value::Array(names));
    }
    if let Some(speculative) = args.document("speculativeAuthenticate")? {
        let database = speculative.get("db").and_then(ValueRef::as_str).unwrap_or("admin");
        // What cannot begin here begins again in a command of its own, which says what is wrong.
        if speculative.iter().next().is_some_and(|(name, _)| name == "saslStart")
            && let Ok(begun) = begin(call, speculative, database).await
        {
            reply.push("speculativeAuthenticate", begun);
        }
    }
    Ok(())
}

/// Runs `logout`: nobody is logged in afterwards.
pub(super) async fn log_out<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let mut logins = call.connection.logins.lock();
    let gone = (logins.current.take(), logins.known.take());
    drop(logins);
    drop::<(Option<Arc<_>>, _)>(gone);
    ok(doc! {})
}
