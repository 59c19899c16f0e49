//! Writes the audit log of the NoSQL API: refused requests, and changes of resources other than
//! items. An entry contains the request's operation and path, but none of its data.

use audit::{Api, Event, is_refusal, outcome_of};

use super::Exchange;
use crate::{
    api::NoSqlApi,
    authorize::Principal,
    operation::{Access, Metering},
    sender::Sender,
    transport::Transport,
};

/// Writes an entry for a request with this response status if it is to be audited. A request that
/// could not be parsed has no operation.
pub(super) fn record_request(api: &NoSqlApi, exchange: &Exchange, status: u16) {
    let Some(log) = &api.settings.audit else { return };
    let changes = exchange.operation.is_some_and(|operation| {
        let row = operation.row();
        row.access == Access::Writes && row.metering == Metering::Free
    });
    if !changes && !is_refusal(status) {
        return;
    }
    let operation = exchange.operation;
    let action = operation.map_or_else(|| "?".to_owned(), |operation| format!("{operation:?}"));
    let api = match (exchange.head.transport, exchange.sender) {
        (Transport::Direct, _) => Api::NoSqlDirect,
        (Transport::Http, Sender::Signs) => Api::NoSql,
        (Transport::Http, _) => Api::Admin,
    };
    let peer = exchange.client.peer().map(|peer| peer.to_string()).unwrap_or_default();
    let outcome = outcome_of(status);
    let who = exchange.who.as_ref().map(Principal::to_string);
    let (user, path) = (who.as_deref(), exchange.path());
    log.note(&Event { api, action: &action, peer: &peer, user, object: &path, outcome });
}
