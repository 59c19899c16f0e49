//! Operations on one document, or on one message with new documents. Every operation checks its
//! outcome, so that fast but wrong answers are reported as failures. The YCSB mixes use the same
//! operations.

use std::sync::Arc;

use document::{DocBuf, ValueRef};
use fastrand::Rng;
use mongo_client::Sequence;

use super::Settings;
use crate::{
    closed_loop::{self, Plan, Worker},
    commands::{self, Concern},
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    keys::Keys,
    limits::FIELD_BYTES,
    records,
    target::{Dataset, Target},
};

/// Collection of the YCSB records.
const USERS: &str = Dataset::Users.collection_name();
/// Collection of new documents, which is dropped before and after each workload that inserts.
const INSERTS: &str = "inserts";

/// Reads a record that has to exist, with one request.
pub(super) async fn read_user(link: &mut Connection, number: u64) -> Result<()> {
    let id = records::user_id(number);
    let reply = link.call_command(commands::find_id(USERS, ValueRef::String(&id))).await?;
    if reply.read_batch()?.is_empty() {
        return Err(Error::Answer(format!("{id} is missing")));
    }
    Ok(())
}

/// Sets one field of a record that has to exist to a new text, with one request.
pub(super) async fn set_field(
    link: &mut Connection,
    number: u64,
    rng: &mut Rng,
    concern: Concern,
) -> Result<()> {
    let id = records::user_id(number);
    let text = records::random_text(FIELD_BYTES, rng);
    let change = (records::FIELD_NAMES[rng.usize(..records::FIELD_NAMES.len())], text.as_str());
    let reply = link
        .call_command(commands::update_command(USERS, ValueRef::String(&id), change, concern))
        .await?;
    expect_number("n", reply.integer_field("n"), 1)
}

/// Inserts the YCSB record with this number into the shared collection, with one request.
pub(super) async fn insert_user(
    link: &mut Connection,
    number: u64,
    rng: &mut Rng,
    concern: Concern,
) -> Result<()> {
    insert_all(link, USERS, &[records::user_record(number, rng)], concern).await
}

/// Inserts documents in one message. Fails unless the reply counts all of them.
async fn insert_all(
    link: &mut Connection,
    collection: &str,
    documents: &[DocBuf],
    concern: Concern,
) -> Result<()> {
    let sequence = Sequence { name: "documents", documents };
    let reply =
        link.call_with(commands::insert_command(collection, concern), Some(sequence)).await?;
    expect_number("n", reply.integer_field("n"), i64::try_from(documents.len()).unwrap_or(i64::MAX))
}

/// Fails if `got` differs from `want`. `what` is the name of the number in the error message.
fn expect_number(what: &str, got: i64, want: i64) -> Result<()> {
    if got == want {
        return Ok(());
    }
    Err(Error::Answer(format!("{what} is {got} instead of {want}")))
}

struct Reader {
    records: u64,
    rng: Rng,
}

impl Worker for Reader {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        read_user(link, self.rng.u64(..self.records)).await
    }
}

/// Measures uniform reads by `_id`.
pub(super) async fn point_read(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let records = settings.sizes.records;
    closed_loop::run_workers(target, plan, |worker| Reader {
        records,
        rng: settings.worker_rng(worker),
    })
    .await
}

struct Updater {
    records: u64,
    rng: Rng,
    concern: Concern,
}

impl Worker for Updater {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let number = self.rng.u64(..self.records);
        set_field(link, number, &mut self.rng, self.concern).await
    }
}

/// Measures uniform updates of one field.
pub(super) async fn run_updates(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let (records, concern) = (settings.sizes.records, settings.sizes.write_concern());
    let worker = |worker| Updater { records, rng: settings.worker_rng(worker), concern };
    closed_loop::run_workers(target, plan, worker).await
}

/// Updates records and reads the previous versions.
struct Modifier(Updater);

impl Worker for Modifier {
    /// Changes one field of a random record. The reply has to contain the previous document.
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let id = records::user_id(self.0.rng.u64(..self.0.records));
        let text = records::random_text(FIELD_BYTES, &mut self.0.rng);
        let field = self.0.rng.choice(records::FIELD_NAMES).unwrap_or("field0");
        let (id, change) = (ValueRef::String(&id), (field, text.as_str()));
        let reply =
            link.call_command(commands::find_and_modify(USERS, id, change, self.0.concern)).await?;
        match reply.get_field("value") {
            Some(ValueRef::Document(_)) => Ok(()),
            other => Err(Error::Answer(format!("findAndModify gave {other:?}"))),
        }
    }
}

/// Measures uniform `findAndModify` of one field.
pub(super) async fn find_and_modify(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let (records, concern) = (settings.sizes.records, settings.sizes.write_concern());
    let worker = |worker| Modifier(Updater { records, rng: settings.worker_rng(worker), concern });
    closed_loop::run_workers(target, plan, worker).await
}

/// Inserts new documents, `at_once` per message.
struct Inserter {
    /// Numbers of the documents, shared by all workers so that no `_id` is used twice.
    keys: Arc<Keys>,
    rng: Rng,
    concern: Concern,
    /// Number of documents per message.
    at_once: usize,
}

impl Worker for Inserter {
    /// Inserts documents in one message. Generating them is part of the step, of its latency and of
    /// the client's CPU use.
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let make = |_| records::user_record(self.keys.take_number(), &mut self.rng);
        let documents: Vec<DocBuf> = (0..self.at_once).map(make).collect();
        insert_all(link, INSERTS, &documents, self.concern).await
    }
}

/// Measures inserts of new documents into a separate collection. An operation is a message. The
/// number of documents per second is an extra figure.
pub(super) async fn run_inserts(
    target: &Target,
    plan: Plan,
    settings: &Settings,
    at_once: usize,
) -> Result<Figures> {
    target.drop_collection(INSERTS).await?;
    let keys = Arc::new(Keys::default());
    let concern = settings.sizes.write_concern();
    let worker = |worker| Inserter {
        keys: Arc::clone(&keys),
        rng: settings.worker_rng(worker),
        concern,
        at_once,
    };
    let mut figures = closed_loop::run_workers(target, plan, worker).await?;
    if 1 < at_once {
        #[expect(clippy::cast_precision_loss, reason = "a thousand at most")]
        figures.add_extra("documents per second", figures.rate * at_once as f64);
    }
    target.drop_collection(INSERTS).await?;
    target.wait_until_idle().await?;
    Ok(figures)
}
