//! Logins with a certificate: `authenticate` with MONGODB-X509, alone or within a handshake. TLS
//! has verified the certificate when the connection was opened; this command only logs in its user.
//!
//! ```text
//! {authenticate: 1, mechanism: "MONGODB-X509", user?: "CN=ann,O=y", $db: "$external"}
//! => {dbname: "$external", user: "CN=ann,O=y", ok: 1}
//! ```
//!
//! A failure gets error 18 with the same text as every failed login.

use document::{DocBuf, DocRef, Document, ValueRef, doc};

use super::sasl;
use crate::{
    access::{UserName, user::EXTERNAL_DATABASE},
    arguments::Args,
    audited::record_login,
    authorize::{check_users, restrictions_admit},
    call::Call,
    errors::Result,
    replies::ok,
};

/// Arguments of `authenticate`. Some drivers repeat the database.
pub(super) const FIELDS: &[&str] = &["mechanism", "user", "db"];

const MECHANISM: &str = "MONGODB-X509";

/// Runs `authenticate`. Fails with 334 if the mechanism is unsupported, and with 18 in all other
/// cases.
pub(super) async fn authenticate(call: &Call<'_>) -> Result<DocBuf> {
    ok(log_in(call, call.body, call.database)?)
}

/// Performs the login within a handshake. If it fails, the client repeats it in an `authenticate`,
/// which reports the error.
pub(super) fn in_handshake(call: &Call<'_>, reply: &mut Document) -> Result<()> {
    let Some(speculative) = call.args().document("speculativeAuthenticate")? else {
        return Ok(());
    };
    let database = speculative.get("db").and_then(ValueRef::as_str).unwrap_or(EXTERNAL_DATABASE);
    if speculative.iter().next().is_some_and(|(name, _)| name == "authenticate")
        && let Ok(done) = log_in(call, speculative, database)
    {
        reply.push("speculativeAuthenticate", done);
    }
    Ok(())
}

/// Logs in the user named by the subject of the client's certificate, replacing any previous user.
fn log_in(call: &Call<'_>, body: DocRef<'_>, database: &str) -> Result<Document> {
    check_users(call)?;
    let args = Args::new("authenticate", body);
    call.connection.logins.lock().under_way = None;
    let mechanism = args.need_str("mechanism")?;
    if mechanism != MECHANISM {
        return Err(sasl::unknown_mechanism(mechanism));
    }
    let Some(subject) = call.connection.certificate_subject.as_deref() else {
        return Err(sasl::record_failure(call, None, "the client presented no certificate"));
    };
    let name = UserName::new(subject, EXTERNAL_DATABASE);
    if database != EXTERNAL_DATABASE {
        let why = "certificate users belong to $external";
        return Err(sasl::record_failure(call, Some(&name), why));
    }
    if args.str("user")?.is_some_and(|user| user != subject) {
        let why = "the user does not match the certificate";
        return Err(sasl::record_failure(call, Some(&name), why));
    }
    let Some((user, login)) = call.api.login_as(&name, None)? else {
        return Err(sasl::record_failure(call, Some(&name), "no user of that name in $external"));
    };
    if !restrictions_admit(call.connection, &user) {
        let why = "the user may not log in from this address";
        return Err(sasl::record_failure(call, Some(&name), why));
    }
    call.connection.logins.lock().log_in(login);
    record_login(call, &name.to_string(), mechanism, 0);
    tracing::debug!(user = name.to_string(), peer = call.connection.peer, mechanism, "logged in");
    Ok(doc! { "dbname": EXTERNAL_DATABASE, "user": subject })
}
