//! `hello` and its old names: who the server is and what it can do.

use std::sync::atomic::Ordering;

use document::{ArrayRef, DocBuf, DocRef, Document, Value, ValueRef, doc};
use engine::Store;

use super::{Call, ok};
use crate::{
    door::lock,
    errors::{
        ClientMetadataAppNameTooLarge, ClientMetadataCannotBeMutated, Error, Result, TypeMismatch,
    },
    limits::{
        MAX_CLIENT_BYTES, MAX_DOCUMENT_BYTES, MAX_MESSAGE_BYTES, MAX_WIRE_VERSION, MAX_WRITE_BATCH,
        SESSION_MINUTES,
    },
    wire::Compressor,
};

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
];

/// Longest application name, bytes.
const MAX_APP_NAME: usize = 128;

pub(super) async fn run<S: Store>(call: Call<'_, S>) -> Result<DocBuf> {
    if let Some(client) = call.args().document("client")? {
        introduce(&call, client)?;
    }
    let now = call.door.engine.now().await;
    let primary = if call.name == "hello" { "isWritablePrimary" } else { "ismaster" };
    let mut reply = Document::new();
    reply.push("helloOk", true);
    reply.push(primary, true);
    let size = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
    for (name, value) in doc! {
        "maxBsonObjectSize": size(MAX_DOCUMENT_BYTES),
        "maxMessageSizeBytes": size(MAX_MESSAGE_BYTES),
        "maxWriteBatchSize": size(MAX_WRITE_BATCH),
        "localTime": Value::DateTime(now.ms),
        "logicalSessionTimeoutMinutes": SESSION_MINUTES,
        "connectionId": call.connection.id,
        "minWireVersion": 0,
        "maxWireVersion": MAX_WIRE_VERSION,
        "readOnly": false,
    } {
        reply.push(name, value);
    }
    if let Some(asked) = call.args().array("compression")? {
        reply.push("compression", agree(&call, asked));
    }
    ok(reply)
}

/// A client says who it is, once.
fn introduce<S: Store>(call: &Call<'_, S>, client: DocRef<'_>) -> Result<()> {
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
            *lock(&call.connection.app_name) = Some(name.to_owned());
            Ok(())
        }
        Some(_) => Err(Error::new(TypeMismatch, "The 'application.name' field must be a string")),
        None => Ok(()),
    }
}

/// The compressors both sides know, in the client's order.
fn agree<S: Store>(call: &Call<'_, S>, asked: ArrayRef<'_>) -> Value {
    let mut agreed: Vec<Compressor> = Vec::new();
    for name in asked.iter().filter_map(ValueRef::as_str) {
        let known = Compressor::OFFERED.into_iter().find(|it| it.name() == name);
        agreed.extend(known.filter(|it| !agreed.contains(it)));
    }
    let names = agreed.iter().map(|compressor| compressor.name().into()).collect();
    *lock(&call.connection.compressors) = agreed;
    Value::Array(names)
}
