//! `hello` and its former names: the server's role and capabilities. Drivers decide by the reply
//! how to use the server: batch sizes, wire versions, compressors, sessions. The server reports
//! itself as a standalone server, a router or the primary of a replica set, and always accepts
//! writes.
//!
//! ```text
//! {hello: 1, client: {application: {name: ..}, driver: {..}}, compression: ["zstd"]}
//! => {isWritablePrimary: true, maxBsonObjectSize: .., maxWireVersion: .., compression: ["zstd"], ..}
//! ```
//!
//! A router reports `msg: "isdbgrid"` instead of `readOnly`, and otherwise the same as a standalone
//! server: no set name and no other hosts, so that a driver may be given any number of routers.
//! Because of `logicalSessionTimeoutMinutes` drivers number their writes. A server outside a cluster
//! replies as the primary of a replica set to clients whose application name is `@NAME@`, where
//! NAME is the name of the account.
//!
//! A client that sends `topologyVersion` and `maxAwaitTimeMS` waits for a change of state; drivers
//! use one connection for that and detect by it that the server is down.

use std::{net::IpAddr, sync::atomic::Ordering, time::Duration};

use document::{ArrayRef, DocBuf, DocRef, Document, Value, ValueRef, doc};

use super::{replica_set, sasl, x509};
use crate::{
    account::SET_NAME,
    arguments::Args,
    call::Call,
    command_row::ANY_ARGUMENT,
    errors::{
        ClientMetadataAppNameTooLarge, ClientMetadataCannotBeMutated, Error, Result, TypeMismatch,
    },
    limits::{MAX_CLIENT_BYTES, MAX_WIRE_VERSION, MAX_WRITE_BATCH, SESSION_MINUTES},
    pause::sleep,
    replica_set::ReplicaSet,
    replies::ok,
    topology::Topology,
    wire::{Compressor, Shape},
};

/// Arguments of a handshake. Any name is accepted, since drivers add new ones with every version.
pub(super) const FIELDS: &[&str] = &[
    "helloOk",
    "client",
    "compression",
    "saslSupportedMechs",
    "speculativeAuthenticate",
    "topologyVersion",
    "maxAwaitTimeMS",
    "loadBalanced",
    "hostInfo",
    "internalClient",
    "backpressure",
    "forShell",
    ANY_ARGUMENT,
];

/// Maximum time that a client may wait for a change of the server's state.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum length of the application name in bytes, from the handshake's specification.
const MAX_APP_NAME: usize = 128;

/// Runs a handshake. `hello` and its former names differ in one field of the reply.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    if let Some(client) = call.args().document("client")? {
        record_client(call, client)?;
    }
    if let Some(wait) = await_change(call)? {
        match &call.api.replica_set {
            // A change ends the wait; the timeout is no error.
            Some(set) => {
                let _ = tokio::time::timeout(wait, set.until_changed(set.changes())).await;
            }
            None => sleep(wait).await,
        }
    }
    let now = call.api.engine.now().await?;
    let primary = if call.name == "hello" { "isWritablePrimary" } else { "ismaster" };
    let mut reply = Document::new();
    if call.args().lax_bool("helloOk")?.unwrap_or(false) {
        reply.push("helloOk", true);
    }
    reply.push(primary, true);
    let in_cluster = call.api.settings.in_cluster;
    let of_account = !in_cluster && names_account(call);
    let router = call.api.settings.topology == Topology::Router && !of_account;
    if router {
        reply.push("msg", "isdbgrid");
    } else if of_account {
        push_account_set(call, &mut reply);
    } else if let Some(set) = &call.api.replica_set {
        replica_set::push_set(call, set, &mut reply);
    }
    let size = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
    for (name, value) in doc! {
        "maxBsonObjectSize": size(call.api.settings.max_document_bytes()),
        "maxMessageSizeBytes": size(call.api.settings.max_message_bytes),
        "maxWriteBatchSize": size(MAX_WRITE_BATCH),
        "localTime": Value::DateTime(now.ms),
        "logicalSessionTimeoutMinutes": SESSION_MINUTES,
        "connectionId": call.connection.id,
        "minWireVersion": 0,
        "maxWireVersion": MAX_WIRE_VERSION,
    } {
        reply.push(name, value);
    }
    if !router {
        reply.push("readOnly", false);
    }
    if let Some(asked) = call.args().array("compression")? {
        reply.push("compression", agree_compressors(call, asked));
    }
    sasl::in_handshake(call, &mut reply).await?;
    x509::in_handshake(call, &mut reply)?;
    // A client that gets a `topologyVersion` waits for changes in a stream of replies. Nodes of a
    // cluster do not serve their clients permanently, so these clients poll every few seconds, as
    // with old servers.
    if !in_cluster {
        let process = Value::ObjectId(call.api.process);
        let counter = call.api.replica_set.as_ref().map_or(0, ReplicaSet::changes);
        reply.push("topologyVersion", doc! { "processId": process, "counter": counter });
    }
    ok(reply)
}

/// Returns whether the client's application name is the one in the account's connection strings,
/// which also name a replica set.
fn names_account(call: &Call<'_>) -> bool {
    let account = call.api.settings.account.as_ref();
    account.is_some_and(|account| {
        call.connection.app_name().is_some_and(|app| account.is_named_by(&app))
    })
}

/// Adds the fields of the only member of the account's replica set to a reply. The member's address
/// is the one to which the client has connected, since drivers connect to the addresses in `hosts`.
fn push_account_set(call: &Call<'_>, reply: &mut Document) {
    let own = call.api.settings.host.as_str();
    let (own_host, port) = own.rsplit_once(':').unwrap_or((own, "27017"));
    let reached = call.connection.reached_at.map(|reached| match reached {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    });
    let host = call.connection.reached_name.clone().or(reached);
    let address = format!("{}:{port}", host.unwrap_or_else(|| own_host.to_owned()));
    replica_set::push_member(reply, SET_NAME, 1, &address);
}

/// Returns how long the client wants to wait for a change of the state that it last received;
/// `None` if it gets its reply at once. The state changes with the configuration of a replica set
/// only. A client with the state of another process, or with an earlier one, is answered at once.
/// The errors are those of the specification of `hello`.
///
/// Fails with 31368 if only one of `topologyVersion` and `maxAwaitTimeMS` is given, 51756 if a
/// stream of replies is requested without both, and 31372, 31382 or 51764 if the counter is
/// invalid.
fn await_change(call: &Call<'_>) -> Result<Option<Duration>> {
    let args = call.args();
    let (wait, known) = match (args.count("maxAwaitTimeMS")?, args.document("topologyVersion")?) {
        (None, None) if matches!(call.message.shape, Shape::Msg { exhaust_allowed: true, .. }) => {
            let message = "A stream of replies needs 'topologyVersion' and 'maxAwaitTimeMS'";
            return Err(Error::new(51756, message));
        }
        (None, None) => return Ok(None),
        (Some(wait), Some(known)) => (wait, known),
        (None, Some(_)) => {
            let message = "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'";
            return Err(Error::new(31368, message));
        }
        (Some(_), None) => {
            let message = "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'";
            return Err(Error::new(31368, message));
        }
    };
    let of = format!("{}.topologyVersion", call.name);
    let known = Args::new(&of, known);
    let process = known.get("processId").ok_or_else(|| known.missing_field("processId"))?;
    let ValueRef::ObjectId(process) = process else {
        return Err(known.wrong_type("processId", process, " 'objectId'"));
    };
    let counter = match known.get("counter").ok_or_else(|| known.missing_field("counter"))? {
        ValueRef::Int64(counter) => counter,
        other => return Err(known.wrong_type("counter", other, " 'long'")),
    };
    if counter < 0 {
        return Err(Error::new(31372, "topologyVersion must have a non-negative counter"));
    }
    if process != call.api.process {
        return Ok(None);
    }
    let set = call.api.replica_set.as_ref();
    let current = set.map_or(0, ReplicaSet::changes);
    if current < counter {
        let message = format!(
            "Received a topology version with counter: {counter} which is greater than the server \
             topology version counter: {current}"
        );
        return Err(Error::new(if set.is_some() { 31382 } else { 51764 }, message));
    }
    if counter < current {
        return Ok(None);
    }
    Ok(Some(Duration::from_millis(wait).min(LONGEST_WAIT)))
}

/// Records the client metadata. Fails with 186 if the client has sent metadata before. Tools show
/// the application's name, and fail points can select by it.
fn record_client(call: &Call<'_>, client: DocRef<'_>) -> Result<()> {
    let size = client.to_buf().bytes().len();
    if MAX_CLIENT_BYTES < size {
        let message = format!(
            "The client metadata document must be less then or equal to {MAX_CLIENT_BYTES} bytes"
        );
        return Err(Error::new(crate::errors::BadValue, message));
    }
    if call.connection.introduced.swap(true, Ordering::SeqCst) {
        let message = "The client metadata document may only be sent in the first hello";
        return Err(Error::new(ClientMetadataCannotBeMutated, message));
    }
    let name = client.get("application").and_then(ValueRef::as_document);
    match name.and_then(|application| application.get("name")) {
        Some(ValueRef::String(name)) if MAX_APP_NAME < name.len() => {
            let message =
                format!("The 'application.name' field must be at most {MAX_APP_NAME} bytes");
            Err(Error::new(ClientMetadataAppNameTooLarge, message))
        }
        Some(ValueRef::String(name)) => {
            *call.connection.app_name.lock() = Some(name.to_owned());
            Ok(())
        }
        Some(_) => Err(Error::new(TypeMismatch, "The 'application.name' field must be a string")),
        None => Ok(()),
    }
}

/// Returns the compressors that both sides support, in the client's order. Drivers use the first of
/// them.
fn agree_compressors(call: &Call<'_>, asked: ArrayRef<'_>) -> Value {
    // In a sharded cluster, messages are not compressed, since they may have to be forwarded to the
    // owner of their database.
    if call.api.settings.is_home.is_some() {
        return Value::Array(Vec::new());
    }
    let mut agreed: Vec<Compressor> = Vec::new();
    for name in asked.iter().filter_map(ValueRef::as_str) {
        let known = Compressor::OFFERED.into_iter().find(|it| it.name() == name);
        agreed.extend(known.filter(|it| !agreed.contains(it)));
    }
    let names = agreed.iter().map(|compressor| compressor.name().into()).collect();
    *call.connection.compressors.lock() = agreed;
    Value::Array(names)
}
