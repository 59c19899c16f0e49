//! `getDiagnosticData`: the metrics that exporters read in one command. MongoDB returns its last
//! sample of each second; here the sample is taken on request.
//!
//! ```text
//! {getDiagnosticData: 1}
//! => {data: {start, serverStatus: {start, .., end},
//!     systemMetrics: {start, cpu, memory, end}, end}, ok: 1}
//! ```

use document::{DocBuf, DocRef, Document, Value, doc};

use super::server_status;
use crate::{
    access::Action,
    call::Call,
    errors::Result,
    replies::ok,
    rights::{CommandRequest, Object, Requirement},
};

/// Requires the rights to all sections that MongoDB's reply has.
pub(super) fn needs(_: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let rights = [Action::ServerStatus, Action::ReplSetGetStatus];
    Ok(rights.map(|right| Requirement::of(right, Object::Server)).into())
}

pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let start = now(call).await?;
    let status = DocRef::Raw(server_status::run(call).await?.bytes()).to_tree();
    let between = now(call).await?;
    let figures = (call.api.settings.machine_figures)();
    let numbers = |figures: Vec<(String, u64)>| -> Document {
        let long = |value| Value::Int64(i64::try_from(value).unwrap_or(i64::MAX));
        figures.into_iter().map(|(name, value)| (name, long(value))).collect()
    };
    let system = doc! { "cpu": numbers(figures.cpu), "memory": numbers(figures.memory) };
    let end = now(call).await?;
    let data = doc! {
        "start": start.clone(),
        "serverStatus": framed(start, status, between.clone()),
        "systemMetrics": framed(between, system, end.clone()),
        "end": end,
    };
    ok(doc! { "data": data })
}

/// Returns the time of the database clock.
async fn now(call: &Call<'_>) -> Result<Value> {
    Ok(Value::DateTime(call.api.engine.now().await?.ms))
}

/// Returns a sample of diagnostic data with the times at which it started and ended.
fn framed(start: Value, sample: Document, end: Value) -> Document {
    let mut framed = doc! { "start": start };
    sample.into_iter().for_each(|(name, value)| framed.push(name, value));
    framed.push("end", end);
    framed
}
