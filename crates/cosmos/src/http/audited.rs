//! Writes the audit log of the NoSQL API: refused requests, and changes of resources other than
//! items. An entry contains the request's operation and path, but none of its data.

use audit::{Api, Event, is_refusal, outcome_of};

use crate::{
    api::NoSqlApi,
    authorize::Principal,
    interrupt::Client,
    operation::{Access, Metering, Operation},
    sender::Sender,
};

/// Writes an entry for a request with this response status if it is to be audited. A request that
/// could not be parsed has no operation.
pub(super) fn record_request(
    api: &NoSqlApi,
    client: &Client,
    (sender, who): (Sender, Option<&Principal>),
    (operation, path): (Option<Operation>, &str),
    status: u16,
) {
    let Some(log) = &api.settings.audit else { return };
    let changes = operation.is_some_and(|operation| {
        let row = operation.row();
        row.access == Access::Writes && row.metering == Metering::Free
    });
    if !changes && !is_refusal(status) {
        return;
    }
    let action = operation.map_or_else(|| "?".to_owned(), |operation| format!("{operation:?}"));
    let api = if sender == Sender::Signs { Api::NoSql } else { Api::Admin };
    let peer = client.peer().map(|peer| peer.to_string()).unwrap_or_default();
    let outcome = outcome_of(status);
    let who = who.map(Principal::to_string);
    let user = who.as_deref();
    log.note(&Event { api, action: &action, peer: &peer, user, object: path, outcome });
}
