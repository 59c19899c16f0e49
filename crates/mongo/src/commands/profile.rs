//! `profile`: which commands of a database are recorded, and the entries of `system.profile`.
//!
//! ```text
//! {profile: -1 | 0 | 1 | 2, slowms: 100, sampleRate: 1, filter: {..} | "unset"}
//! => {was: 0, slowms: 100, sampleRate: 1.0, ok: 1}
//! ```
//!
//! An entry is a document of a capped collection of 1 MB, which the first entry creates. It is
//! inserted before the reply is sent. Commands on `system.profile` itself are not recorded.

use std::{sync::Arc, time::Duration};

use document::{DocBuf, DocRef, Document, ObjectId, Value, ValueRef, doc};
use engine::{Capped, Collection, Kind, Lifetime, ListOrdering, Model, Namespace};

use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    command_row::{CommandRow, Work},
    cursor_description::shown_command,
    errors::{BadValue, CommandNotSupported, Error, ExceededMemoryLimit, Result},
    limits::{MAX_PROFILE_FILTER_BYTES, MAX_PROFILED_DATABASES, SHOWN_BYTES},
    names::PROFILE,
    profiler::ProfileLevel,
    replies::ok,
    rights::{CommandRequest, Object, Requirement},
};

/// Arguments of `profile`, besides the level.
pub(super) const FIELDS: &[&str] = &["slowms", "sampleRate", "filter"];

/// Size of a new `system.profile` in bytes.
const PROFILE_BYTES: i64 = 1 << 20;

/// Returns the right that `profile` requires: to read `system.profile` if it only asks, and
/// otherwise to enable the profiler.
pub(super) fn needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let asks = request.args().int("profile")? == Some(-1)
        && FIELDS.iter().all(|field| request.body.get(field).is_none());
    let database = request.database;
    let needed = Requirement::of(Action::EnableProfiler, Object::Database(database.to_owned()));
    let own = Object::Collection(Namespace::new(database, PROFILE));
    Ok(vec![match asks {
        true => Requirement::Any(vec![needed, Requirement::of(Action::Find, own)]),
        false => needed,
    }])
}

/// Returns whether the command changes settings: it does unless it only asks for them.
pub(super) fn changes_data(command: DocRef<'_>) -> bool {
    let asks = command.get("profile").and_then(document::Number::of);
    let asks = asks.and_then(document::Number::to_i64_exact) == Some(-1);
    !asks || FIELDS.iter().any(|field| command.get(field).is_some())
}

/// Runs `profile`; replies with the settings before the change. A level other than 0, 1 and 2 leaves
/// the level unchanged.
///
/// Fails with 2 if the sample rate is not from 0 to 1 or the filter is too large or of a wrong
/// kind, with the errors of the filter, with 115 if the level is above 0 on a node of a cluster,
/// and with 146 if too many databases have settings.
pub(super) async fn run(call: &Call<'_>) -> Result<DocBuf> {
    let args = call.args();
    let level = args.int("profile")?.ok_or_else(|| args.missing_field("profile"))?;
    let level = i32::try_from(level).ok().filter(|level| (0..=2).contains(level));
    let slow_ms = args.int("slowms")?;
    let rate = sample_rate(&args)?;
    let filter = parse_filter(&args)?;
    if call.api.settings.in_cluster && level.is_some_and(|level| 0 < level) {
        let message = "the profiler is not supported on a node of a cluster";
        return Err(Error::new(CommandNotSupported, message));
    }
    let before = call.api.profiler.change(call.database, |held, slow| {
        held.level = level.unwrap_or(held.level);
        slow.slow_ms = slow_ms.unwrap_or(slow.slow_ms);
        slow.sample_rate = rate.unwrap_or(slow.sample_rate);
        if let Some(filter) = filter {
            held.filter = filter;
        }
    });
    let Some((was, slow)) = before else {
        let message = format!(
            "{MAX_PROFILED_DATABASES} databases have settings of the profiler, which is the \
             maximum; turn it off in one of them first"
        );
        return Err(Error::new(ExceededMemoryLimit, message));
    };
    let mut reply = doc! {
        "was": was.level,
        "slowms": i32::try_from(slow.slow_ms).unwrap_or(i32::MAX),
        "sampleRate": slow.sample_rate,
    };
    if let Some(filter) = was.filter {
        reply.push("filter", filter.0.clone());
        reply.push(
            "note",
            "When a filter expression is set, slowms and sampleRate are not used for profiling and \
             slow-query log lines.",
        );
    }
    ok(reply)
}

fn sample_rate(args: &Args<'_>) -> Result<Option<f64>> {
    let Some(value) = args.get_or_null("sampleRate") else { return Ok(None) };
    let Some(rate) = document::Number::of(value) else {
        let expected = "s '[long, int, decimal, double]'";
        return Err(args.wrong_type("sampleRate", value, expected));
    };
    let rate = rate.to_f64();
    if (0.0..=1.0).contains(&rate) {
        return Ok(Some(rate));
    }
    Err(Error::new(BadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive"))
}

/// A filter as given and parsed; `None` removes the filter.
type NewFilter = Option<Arc<(Document, pipeline::Filter)>>;

/// Returns the filter that the command sets; the inner `None` is the text `unset`.
fn parse_filter(args: &Args<'_>) -> Result<Option<NewFilter>> {
    match args.get_or_null("filter") {
        None => Ok(None),
        Some(ValueRef::String("unset")) => Ok(Some(None)),
        Some(ValueRef::Document(filter)) => {
            let bytes = ValueRef::Document(filter).encoded_len();
            if MAX_PROFILE_FILTER_BYTES < bytes {
                let message = format!(
                    "the filter has {bytes} bytes; the maximum is {MAX_PROFILE_FILTER_BYTES} bytes"
                );
                return Err(Error::new(BadValue, message));
            }
            let parsed = mongo_query::filter::parse(filter)?;
            Ok(Some(Some(Arc::new((filter.to_tree(), parsed)))))
        }
        Some(_) => {
            let message = "Expected an object, or the string 'unset'.";
            Err(Error::new(BadValue, message))
        }
    }
}

/// Records a finished command if the level of its database asks for it. A failure to record it does
/// not affect the command.
pub(super) async fn record(
    call: &Call<'_>,
    row: &CommandRow,
    took: Duration,
    reply: &Result<DocBuf>,
) {
    let Some(level) = call.api.profiler.records(call.database, took) else { return };
    let collection = call.body.get(row.collection_argument()).and_then(ValueRef::as_str);
    // Commands of logins would show passwords.
    if row.hides_arguments || collection == Some(PROFILE) {
        return;
    }
    if let Err(error) = try_record(call, row, (took, level), reply).await {
        tracing::debug!(error = %error.message, "a command was not recorded in system.profile");
    }
}

async fn try_record(
    call: &Call<'_>,
    row: &CommandRow,
    (took, level): (Duration, ProfileLevel),
    reply: &Result<DocBuf>,
) -> Result<()> {
    let entry = entry_of(call, row, took, reply).await?;
    if let Some(filter) = &level.filter
        && !filter.1.matches(DocRef::Tree(&entry), &evaluation::Context::default())?
    {
        return Ok(());
    }
    let collection = profile_collection(call).await?;
    let documents = vec![(entry.to_buf(), Lifetime::Inherit)];
    call.api.engine.insert(&collection, documents, ListOrdering::Unordered).await?;
    Ok(())
}

/// Returns the collection of the entries, creating it if it does not exist.
async fn profile_collection(call: &Call<'_>) -> Result<Arc<Collection>> {
    let namespace = Namespace::new(call.database, PROFILE);
    if let Some(collection) = call.find_collection(&namespace) {
        return Ok(collection);
    }
    let capped = Capped { bytes: PROFILE_BYTES, documents: None };
    let engine = &call.api.engine;
    match engine.create_capped(Model::Documents, &namespace, Document::new(), capped).await {
        Ok(collection) => Ok(collection),
        Err(error) if matches!(error.kind, Kind::Exists(_)) => call.expect_collection(&namespace),
        Err(error) => Err(error.into()),
    }
}

/// Returns the entry of a finished command.
async fn entry_of(
    call: &Call<'_>,
    row: &CommandRow,
    took: Duration,
    reply: &Result<DocBuf>,
) -> Result<Document> {
    let now = call.api.engine.now().await?;
    let running = call.connection.running_command();
    let operation = running.map_or_else(|| Arc::clone(&call.operation), |it| it.operation);
    let collection = call.body.get(row.collection_argument()).and_then(ValueRef::as_str);
    let namespace = format!("{}.{}", call.database, collection.unwrap_or(row.without_collection));
    let mut entry = doc! {
        "_id": Value::ObjectId(new_id(now.ms)),
        "op": row.work.op_name(),
        "ns": namespace,
        "command": shown_command(call.body, SHOWN_BYTES).as_ref().to_tree(),
    };
    let examined = i64::try_from(operation.stats.examined()).unwrap_or(i64::MAX);
    let access = operation.stats.access();
    if access.is_some() {
        let by_index = access.is_some_and(|access| access != "scan");
        entry.push("keysExamined", if by_index { examined } else { 0 });
        entry.push("docsExamined", examined);
    }
    push_outcome(row, reply, &mut entry);
    entry.push("numYield", 0);
    if let Some(access) = access {
        entry.push("planSummary", plan_summary(access));
    }
    entry.push("protocol", "op_msg");
    entry.push("millis", i32::try_from(took.as_millis()).unwrap_or(i32::MAX));
    entry.push("ts", Value::DateTime(now.ms));
    entry.push("client", call.connection.peer.as_str());
    if let Some(name) = call.connection.app_name() {
        entry.push("appName", name);
    }
    let user = call.connection.sender().user;
    let users = user.iter().map(|user| Value::Document(user.to_document())).collect();
    entry.push("allUsers", Value::Array(users));
    entry.push("user", user.map_or_else(String::new, |user| user.to_string()));
    Ok(entry)
}

/// Returns a new id of an entry, with the second of the database clock.
fn new_id(now_ms: i64) -> ObjectId {
    let second = u32::try_from(now_ms.div_euclid(1000)).unwrap_or(0);
    let random = std::array::from_fn(|_| fastrand::u8(..));
    ObjectId::from_parts(second, random, fastrand::u32(..1 << 24))
}

/// Returns the text of an access path that an operation has recorded.
fn plan_summary(access: &str) -> String {
    match access {
        "scan" => "COLLSCAN".to_owned(),
        "ids" => "IDHACK".to_owned(),
        _ => format!("IXSCAN {}", access.strip_prefix("index ").unwrap_or(access)),
    }
}

/// Adds what the command returned, changed or failed with.
fn push_outcome(row: &CommandRow, reply: &Result<DocBuf>, entry: &mut Document) {
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => {
            entry.push("ok", 0);
            entry.push("errMsg", error.message.as_str());
            entry.push("errName", crate::errors::code_name(error.code).as_ref());
            entry.push("errCode", error.code);
            return;
        }
    };
    let count = |name: &str| match reply.get(name).and_then(document::Number::of) {
        Some(number) => number.to_i64_exact().unwrap_or(0),
        None => 0,
    };
    match row.work {
        Work::Insert => entry.push("ninserted", count("n")),
        Work::Update => {
            let upserted = reply.get("upserted").and_then(ValueRef::as_array);
            let upserted = upserted.map_or(0, |upserted| upserted.iter().count() as i64);
            entry.push("nMatched", count("n") - upserted);
            entry.push("nModified", count("nModified"));
            if 0 < upserted {
                entry.push("nUpserted", upserted);
            }
        }
        Work::Remove => entry.push("ndeleted", count("n")),
        _ => {}
    }
    if let Some(cursor) = reply.get("cursor").and_then(ValueRef::as_document) {
        let batch = cursor.get("firstBatch").or_else(|| cursor.get("nextBatch"));
        let returned = batch.and_then(ValueRef::as_array).map_or(0, |batch| batch.iter().count());
        entry.push("nreturned", i32::try_from(returned).unwrap_or(i32::MAX));
        match cursor.get("id") {
            Some(ValueRef::Int64(id)) if id != 0 => entry.push("cursorid", id),
            _ => entry.push("cursorExhausted", true),
        }
    }
    entry.push("responseLength", i32::try_from(reply.bytes().len()).unwrap_or(i32::MAX));
}
