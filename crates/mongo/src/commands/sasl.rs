//! Logins with SCRAM: `saslStart` and `saslContinue`, and the first step within a handshake, which
//! saves a round trip.
//!
//! ```text
//! {saslStart: 1, mechanism: "SCRAM-SHA-256", payload: client-first, options: {skipEmptyExchange: true}}
//! => {conversationId: 1, done: false, payload: server-first, ok: 1}
//! {saslContinue: 1, conversationId: 1, payload: client-final}
//! => {conversationId: 1, done: true, payload: server-final, ok: 1}
//! ```
//!
//! A failed login always gets error 18 with the same text, so that it does not reveal which users
//! exist; the log has the reason. A connection has at most one login in progress, and any failure
//! ends it.

use std::{sync::Arc, time::Duration};

use auth::scram::{ClientFirst, Exchange, ExchangeError, Mechanism, Verifier, make_nonce};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};

use crate::{
    access::{User, UserName},
    arguments::Args,
    audited::record_login,
    authorize::{check_users, restrictions_admit},
    call::Call,
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

pub(super) const START_FIELDS: &[&str] =
    &["mechanism", "payload", "autoAuthorize", "options", "db"];
pub(super) const CONTINUE_FIELDS: &[&str] = &["conversationId", "payload"];

/// Returns the error of a failed login, which is the same for every reason.
fn refused() -> Error {
    Error::new(AuthenticationFailed, "Authentication failed.")
}

/// Returns the error for an unsupported mechanism.
pub(super) fn unknown_mechanism(named: &str) -> Error {
    let shown: String = named.chars().take(64).collect();
    let text =
        format!("Received authentication for mechanism {shown} which is unknown or not enabled");
    Error::new(MechanismUnavailable, text)
}

/// Returns the payload of a SCRAM message: binary, or base64 as legacy shells sent it.
fn payload(args: &Args<'_>) -> Result<Vec<u8>> {
    match args.get("payload") {
        Some(ValueRef::Binary { bytes, .. }) => Ok(bytes.to_vec()),
        Some(ValueRef::String(text)) => STANDARD.decode(text).map_err(|_| refused()),
        Some(other) => Err(args.wrong_type("payload", other, " 'binData'")),
        None => Err(args.missing_field("payload")),
    }
}

pub(super) async fn start(call: &Call<'_>) -> Result<DocBuf> {
    ok(begin(call, call.body, call.database).await?)
}

/// Starts a login. A login in progress on the connection is dropped.
///
/// Fails with 334 if the mechanism is unsupported, and with 18 in all other cases.
pub(super) async fn begin(call: &Call<'_>, body: DocRef<'_>, database: &str) -> Result<Document> {
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
        .map_err(|malformed| record_failure(call, None, &malformed.to_string()))?;
    let name = UserName { user: first.user.clone(), database: database.to_owned() };
    wait_for_turn(call, &name).await?;
    let user = call.api.users.user(&name)?.map(|user| user.value);
    if user.is_none()
        && let Some(account) = &call.api.settings.account
        && let Some((verifiers, users)) = account.logins(&name, mechanism).await?
    {
        return begin_exchange(call, (mechanism, &first), name, skips_empty, verifiers, users);
    }
    let user = user.filter(|user| restrictions_admit(call.connection, user));
    // This error does not reveal more than a handshake, which lists the user's mechanisms; a driver
    // then uses another mechanism.
    if user.as_ref().is_some_and(|user| user.credentials.of(mechanism.name()).is_none()) {
        return Err(record_failure(
            call,
            Some(&name),
            "the user has no credentials for the mechanism",
        ));
    }
    let verifier = user.as_ref().and_then(|user| verifier_of(&user.credentials, mechanism));
    // Also computed for existing users, so that the timing does not reveal which users exist.
    let fake = Verifier::fake(mechanism, &name.to_string(), &call.api.users.secret_key().await?);
    let (verifier, user) = match verifier {
        Some(verifier) => (verifier, user),
        None => (fake, None),
    };
    let (verifiers, users) = (vec![verifier], user.into_iter().collect());
    begin_exchange(call, (mechanism, &first), name, skips_empty, verifiers, users)
}

/// Starts the exchange of a login. The client may prove any of the passwords that have these
/// verifiers; it is then logged in as the user at the same position.
fn begin_exchange(
    call: &Call<'_>,
    (mechanism, first): (Mechanism, &ClientFirst),
    name: UserName,
    skips_empty: bool,
    mut verifiers: Vec<Verifier>,
    users: Vec<User>,
) -> Result<Document> {
    let others = verifiers.split_off(verifiers.len().min(1));
    let verifier = verifiers.pop().ok_or_else(refused)?;
    let nonce = make_nonce(&random_bytes()?);
    let (exchange, reply) = Exchange::begin(mechanism, first, verifier, &nonce);
    let step = Step::Proof(Box::new(exchange.with_others(others)), users);
    let mut logins = call.connection.logins.lock();
    logins.last = logins.last.wrapping_add(1);
    let id = logins.last;
    logins.under_way = Some(Conversation { id, name, mechanism, skips_empty, step });
    Ok(step_reply(id, false, reply))
}

/// Runs `saslContinue`: the client's proof, or the empty message after it.
///
/// Fails with 17 if no login is in progress or the conversation id differs, and with 18 if the
/// proof is wrong.
pub(super) async fn proceed(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    // Removed at once: any unexpected message ends the login.
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
        Step::Proof(exchange, mut users) => {
            // Wrong passwords on other connections may have triggered the delay since this login
            // began; then the proof is not checked.
            if 0 < time_to_wait(call, &name).as_millis() {
                return Err(record_failure(call, Some(&name), "too many wrong passwords"));
            }
            let proved = exchange.finish_with_any(&payload);
            let (reply, user) = match proved {
                Ok((reply, at)) if at < users.len() => (reply, Box::new(users.swap_remove(at))),
                Err(ExchangeError::Malformed(malformed)) => {
                    return Err(record_failure(call, Some(&name), &malformed.to_string()));
                }
                Ok(_) | Err(ExchangeError::WrongProof) => {
                    record_wrong_password(call, &name);
                    return Err(record_failure(call, Some(&name), "wrong user name or password"));
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
        Step::Empty(_) => Err(record_failure(call, Some(&name), "a message after the last one")),
    }
}

/// Returns the error of a message without a login in progress. In a cluster the login may have
/// begun on a server that has stopped; the error then makes drivers restart the login.
fn without_conversation(call: &Call<'_>) -> Error {
    if !call.api.settings.in_cluster {
        return Error::new(ProtocolError, "No SASL session state found");
    }
    let message = "the server that started this login cannot continue it: log in again";
    Error::new(ShutdownInProgress, message)
}

fn step_reply(id: i32, done: bool, bytes: Vec<u8>) -> Document {
    doc! {
        "conversationId": id,
        "done": done,
        "payload": Value::Binary { subtype: 0, bytes },
    }
}

/// Logs a user in on the connection, replacing any previous user. Fails if the user was removed,
/// recreated or restricted to other addresses during the login.
fn log_in(call: &Call<'_>, user: &User, mechanism: &str) -> Result<()> {
    let now = call.api.login_as(&user.name, Some(&user.id))?;
    let same = |now: &User| now.id == user.id && now.credentials == user.credentials;
    let may = |now: &User| same(now) && restrictions_admit(call.connection, now);
    let Some((_, login)) = now.filter(|(now, _)| may(now)) else {
        return Err(record_failure(call, Some(&user.name), "the user changed during the login"));
    };
    call.connection.logins.lock().log_in(login);
    record_login(call, &user.name.to_string(), mechanism, 0);
    tracing::debug!(
        user = user.name.to_string(),
        peer = call.connection.peer,
        mechanism,
        "logged in"
    );
    Ok(())
}

/// Logs why a login failed, and returns the error that the client gets.
pub(super) fn record_failure(call: &Call<'_>, name: Option<&UserName>, why: &str) -> Error {
    let name = name.map(|name| name.to_string().chars().take(128).collect::<String>());
    let (peer, name) = (&call.connection.peer, name.as_deref().unwrap_or_default());
    call.api.login_failures.report_login(peer, name, why);
    record_login(call, name, why, AuthenticationFailed);
    refused()
}

fn time_to_wait(call: &Call<'_>, name: &UserName) -> Duration {
    let now = clock::monotonic_time();
    call.api.backoff.time_to_wait(call.connection.peer_address(), &name.to_string(), now)
}

fn record_wrong_password(call: &Call<'_>, name: &UserName) {
    let now = clock::monotonic_time();
    call.api.backoff.record_wrong_password(call.connection.peer_address(), &name.to_string(), now);
}

/// Waits for the login delay after recent wrong passwords. Fails if the delay is too long.
async fn wait_for_turn(call: &Call<'_>, name: &UserName) -> Result<()> {
    let wait = time_to_wait(call, name);
    if LOGIN_WAIT < wait {
        return Err(record_failure(call, Some(name), "too many wrong passwords"));
    }
    if !wait.is_zero() {
        sleep(wait).await;
    }
    Ok(())
}

/// Adds login information to a handshake's reply: the mechanisms of the user that the client names,
/// and the reply to a first login step.
pub(super) async fn in_handshake(call: &Call<'_>, reply: &mut Document) -> Result<()> {
    let args = call.args();
    if let Some(asked) = args.get("saslSupportedMechs") {
        let ValueRef::String(asked) = asked else {
            return Err(Error::new(TypeMismatch, "saslSupportedMechs must be a string"));
        };
        let Some((database, user)) = asked.split_once('.') else {
            let text = "UserName must contain a '.' separated database.user";
            return Err(Error::new(BadValue, text));
        };
        let name = UserName::new(user, database);
        let user = call.api.users.user(&name)?;
        // An unknown user appears to support all mechanisms.
        let names = match &user {
            Some(user) => user.value.mechanisms(),
            None => vec![Mechanism::Sha1.name(), Mechanism::Sha256.name()],
        };
        let names = names.into_iter().map(Value::from).collect();
        reply.push("saslSupportedMechs", Value::Array(names));
    }
    if let Some(speculative) = args.document("speculativeAuthenticate")? {
        let database = speculative.get("db").and_then(ValueRef::as_str).unwrap_or("admin");
        // If the login fails here, the client repeats it in a `saslStart`, which reports the error.
        if speculative.iter().next().is_some_and(|(name, _)| name == "saslStart")
            && let Ok(begun) = begin(call, speculative, database).await
        {
            reply.push("speculativeAuthenticate", begun);
        }
    }
    Ok(())
}

pub(super) async fn log_out(call: &Call<'_>) -> Result<DocBuf> {
    let mut logins = call.connection.logins.lock();
    let gone = (logins.current.take(), logins.known.take());
    drop(logins);
    drop::<(Option<Arc<_>>, _)>(gone);
    ok(doc! {})
}
