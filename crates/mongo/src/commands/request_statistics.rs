//! `getLastRequestStatistics`: returns the cost of the last command on documents in request units,
//! by the table of the NoSQL API.
//!
//! ```text
//! {getLastRequestStatistics: 1}
//! => {_t: "GetRequestStatisticsResponse", CommandName: "find", RequestCharge: 2.33,
//!     RequestDurationInMilliSeconds: 0.4, ok: 1}
//! ```
//!
//! A driver may send the two commands on different connections of its pool. The reply therefore
//! describes the last command on documents of the session, on any connection. Without a session, or
//! if the session has sent no such command, it describes the last one of this connection.

use std::sync::Arc;

use document::{DocBuf, doc};

use crate::{
    call::Call,
    charges::session_of,
    client::{Connection, LastRequest},
    errors::Result,
    replies::ok,
};

/// Runs `getLastRequestStatistics`. Without an earlier command the name is empty and the charge 0.
/// Numbers are doubles even if they are whole, since clients expect doubles.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let last = last_request(call);
    let (command, charge, took) = last
        .map_or(("", 0, 0.0), |last| (last.command, last.charge, last.took.as_secs_f64() * 1000.0));
    ok(doc! {
        "_t": "GetRequestStatisticsResponse",
        "CommandName": command,
        "RequestCharge": charge as f64 / 100.0,
        "RequestDurationInMilliSeconds": took,
    })
}

/// Returns the last command of the session or of the connection.
fn last_request(call: &Call<'_>) -> Option<LastRequest> {
    let own = || call.connection.last_request();
    let Some(session) = session_of(call.body) else { return own() };
    let sender = call.connection.sender();
    let of_session = |connection: &Arc<Connection>| {
        let last = connection.last_request().filter(|last| last.session == Some(session))?;
        (connection.sender() == sender).then_some(last)
    };
    let connections = call.api.connections();
    let found = connections.iter().filter_map(of_session);
    found.max_by_key(|last| last.ended).or_else(own)
}
