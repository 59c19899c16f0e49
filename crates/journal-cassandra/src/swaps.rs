//! Swaps: lightweight transactions on one record. If one is refused, the record is read and
//! returned. A transaction without a timely response is also sent to another coordinator. Its
//! condition refuses a second application; the record then shows whether the first one or another
//! node's change is the reason.

use cluster::{
    ClusterRecord, Record, Request, Swapped, Unanswered, encode_bases, encode_ends, encode_terms,
};
use scylla::{
    response::query_result::QueryRowsResult, serialize::row::SerializeRow,
    statement::prepared::PreparedStatement, value::CqlValue, value::Row,
};
use uuid::Uuid;

use crate::{
    connection::Connection,
    failure::unanswered,
    records::{self, number},
};

/// Executes a swap. A refusal is reported as done if the record shows that an earlier attempt was
/// applied.
pub(crate) async fn swap(
    connection: &Connection,
    request: &Request,
) -> Result<Swapped, Unanswered> {
    if ask(connection, request).await? {
        return Ok(Swapped::Done);
    }
    let shown = shown(connection, request).await?;
    if shown.as_ref().is_some_and(|record| request.is_done_in(record)) {
        return Ok(Swapped::Done);
    }
    Ok(Swapped::Refused(shown))
}

/// Executes a conditional statement; returns whether it was applied.
async fn ask(connection: &Connection, request: &Request) -> Result<bool, Unanswered> {
    let (statements, with) = (&connection.statements, (connection, request));
    match request {
        Request::MakeCluster(record) => {
            let ClusterRecord { format, id, shards, clock, secret } = record;
            let values = (format.cast_signed(), id, shards.cast_signed(), clock, secret.bytes());
            send(with, &statements.make_cluster, values).await
        }
        Request::ReplaceCluster { before, record } => {
            let ClusterRecord { format, id, shards, clock, secret } = record;
            let (format, shards) = (format.cast_signed(), shards.cast_signed());
            let values = (format, id, shards, clock, secret.bytes(), before);
            send(with, &statements.replace_cluster, values).await
        }
        Request::Enter { node, before: 0, about } => {
            send(with, &statements.make_node, (node, about, encode_terms(&[]))).await
        }
        Request::Enter { node, before, about } => {
            let values = (number(*before) + 1, about, node, number(*before));
            send(with, &statements.raise_node, values).await
        }
        Request::Beat { node, incarnation, beat, terms } => {
            let (incarnation, beat) = (number(*incarnation), number(*beat));
            let values = (beat + 1, encode_terms(terms), node, incarnation, beat);
            send(with, &statements.beat, values).await
        }
        Request::Fence { node, incarnation, beat } => {
            send(with, &statements.fence, (node, number(*incarnation), number(*beat))).await
        }
        Request::Forget { node, incarnation, beat } => {
            send(with, &statements.forget, (node, number(*incarnation), number(*beat))).await
        }
        Request::MakeShard { shard } => {
            let nobody = Uuid::nil();
            let (ends, bases) = (encode_ends(&[]), encode_bases(&[]));
            let values = (shard.cast_signed(), nobody, nobody, ends, b"".as_slice(), bases);
            send(with, &statements.make_shard, values).await
        }
        Request::Claim { shard, before, claim, node, incarnation, clock } => {
            let (before, incarnation) = (number(*before), number(*incarnation));
            let values = (before + 1, claim, node, incarnation, clock, shard.cast_signed(), before);
            send(with, &statements.claim, values).await
        }
        Request::Confirm { shard, claim } => {
            send(with, &statements.confirm, (claim, shard.cast_signed(), claim)).await
        }
        Request::Open { shard, claim, epoch, ends } => {
            let values = (encode_ends(ends), number(*epoch), shard.cast_signed(), claim);
            send(with, &statements.open, values).await
        }
        Request::Release { shard, claim, clock } => {
            send(with, &statements.release, (clock, shard.cast_signed(), claim)).await
        }
        Request::SetBase { shard, before, bases } => {
            let newest = bases.last().map_or(0, |base| base.id.cast_signed());
            let (shard, before) = (shard.cast_signed(), before.cast_signed());
            let values = (newest, encode_bases(bases), shard, before);
            send(with, &statements.set_base, values).await
        }
        other => Err(unanswered(format!("{other:?} is not a compare-and-set request"))),
    }
}

async fn send(
    (connection, request): (&Connection, &Request),
    statement: &PreparedStatement,
    values: impl SerializeRow,
) -> Result<bool, Unanswered> {
    connection.swap(statement, values, may_repeat(request), was_applied).await
}

/// Returns whether, if a repeated attempt is refused, the record shows that an earlier attempt was
/// applied; false for requests that create a record.
fn may_repeat(request: &Request) -> bool {
    !matches!(
        request,
        Request::MakeCluster(_) | Request::ReplaceCluster { .. } | Request::MakeShard { .. }
    )
}

/// Reads the first column of a transaction's result; the other columns depend on the outcome.
fn was_applied(answer: &QueryRowsResult) -> Result<bool, Unanswered> {
    let row: Row = answer.first_row().map_err(unanswered)?;
    match row.columns.first() {
        Some(Some(CqlValue::Boolean(applied))) => Ok(*applied),
        other => Err(unanswered(format!("{other:?} is not the reply to a conditional statement"))),
    }
}

/// Reads the record as it is after a compare-and-swap was refused.
async fn shown(connection: &Connection, request: &Request) -> Result<Option<Record>, Unanswered> {
    let statements = &connection.statements;
    match request {
        Request::MakeCluster(_) | Request::ReplaceCluster { .. } => {
            let row = connection.row(&statements.read_cluster, ()).await?;
            Ok(row.map(|row| Record::Cluster(records::cluster(row))))
        }
        Request::Enter { node, .. }
        | Request::Beat { node, .. }
        | Request::Fence { node, .. }
        | Request::Forget { node, .. } => {
            let row = connection.row(&statements.read_node, (node,)).await?;
            Ok(row.map(records::node).transpose()?.map(Record::Node))
        }
        Request::MakeShard { shard }
        | Request::Claim { shard, .. }
        | Request::Confirm { shard, .. }
        | Request::Open { shard, .. }
        | Request::SetBase { shard, .. }
        | Request::Release { shard, .. } => {
            let row = connection.row(&statements.read_shard_serial, (shard.cast_signed(),)).await?;
            Ok(row.map(records::shard).transpose()?.map(Record::Shard))
        }
        _ => Ok(None),
    }
}
