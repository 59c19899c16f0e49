//! `update`: a list of statements, each of which may insert.

use std::sync::Arc;

use document::{DocBuf, DocRef, Value, ValueRef, doc};
use engine::Store;
use engine::{Find, Hint, Namespace, Updated};
use query::{Context, edit::Edit};

use super::{
    Call,
    find::hint,
    insert::{check_batch, push_errors},
    ok,
};
use crate::{
    args::Args,
    door::Counters,
    errors::{Error, FailedToParse, Result},
    ttl::{RESERVED, reserved},
};

/// What a command calls the fields of a statement.
pub(super) struct Names {
    pub(super) filter: &'static str,
    pub(super) update: &'static str,
    pub(super) constants: &'static str,
    pub(super) all: &'static [&'static str],
}

pub(super) const NAMES: Names = Names {
    filter: "q",
    update: "u",
    constants: "c",
    all: &["q", "u", "c", "multi", "upsert", "collation", "arrayFilters", "hint", "sort"],
};

/// One statement, parsed.
pub(super) struct Statement {
    pub(super) find: Find,
    pub(super) edit: Edit,
    pub(super) many: bool,
    pub(super) upsert: bool,
}

pub(super) async fn run<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let statements = call.documents("updates")?;
    check_batch(statements.len())?;
    statements.iter().try_for_each(|it| check_shape(&Args::new("update.updates", *it), &NAMES))?;
    // A pipeline that is none fails the command, before its first statement.
    for statement in &statements {
        if let Some(ValueRef::Array(stages)) = statement.get("u") {
            mongo_query::pipeline::check_stages(stages)?;
        }
    }
    Counters::add(&call.connection.counters.update, statements.len() as u64);
    call.args().lax_bool("bypassDocumentValidation")?;
    let ordered = call.args().bool("ordered")?.unwrap_or(true);
    call.args().document("let")?;
    let context = call.context().await;
    let (mut n, mut modified) = (0, 0);
    let (mut upserted, mut errors) = (Vec::new(), Vec::new());
    for (at, statement) in statements.into_iter().enumerate() {
        // What is wrong with the command's constants is wrong with each statement.
        let applied = match &context {
            Ok(context) => apply(call, &namespace, statement, context).await,
            Err(error) => Err(error.clone()),
        };
        match applied {
            Ok(updated) => {
                n += updated.matched + usize::from(updated.upserted.is_some());
                modified += updated.modified;
                if let Some(id) = updated.upserted {
                    let index = i32::try_from(at).unwrap_or(i32::MAX);
                    upserted.push(Value::Document(doc! { "index": index, "_id": id }));
                }
            }
            Err(error) => {
                errors.push((at, error.about(&namespace)));
                if ordered {
                    break;
                }
            }
        }
    }
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let mut reply = doc! { "n": number(n), "nModified": number(modified) };
    if !upserted.is_empty() {
        reply.push("upserted", Value::Array(upserted));
    }
    push_errors(&mut reply, &errors);
    ok(reply)
}

async fn apply<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    statement: DocRef<'_>,
    context: &Arc<Context>,
) -> Result<Updated> {
    let args = Args::new("update.updates", statement);
    let (statement, context) = parse(&args, &NAMES, context)?;
    execute(call, namespace, statement, &context).await
}

/// Checks what a statement looks like: one that is malformed spoils its command before any other
/// statement runs. What its filter and its update mean is its own affair.
pub(super) fn check_shape(args: &Args<'_>, names: &Names) -> Result<()> {
    args.only(names.all)?;
    args.need_document(names.filter)?;
    match args.body.get(names.update) {
        None => return Err(args.missing(names.update)),
        Some(ValueRef::Document(_) | ValueRef::Array(_)) => {}
        Some(_) => {
            let message = "Update argument must be either an object or an array";
            return Err(Error::new(FailedToParse, message));
        }
    }
    args.bool("upsert")?;
    args.document(names.constants)?;
    args.document("collation")?;
    if args.array("arrayFilters")?.is_some() {
        args.documents("arrayFilters")?;
    }
    hint(args)?;
    // A sort says which one document is meant.
    let sorted = args.document("sort")?.is_some_and(|sort| !sort.is_empty());
    if args.bool("multi")?.unwrap_or(false) && sorted {
        return Err(Error::new(FailedToParse, "Cannot specify sort with multi=true"));
    }
    Ok(())
}

/// A statement that looks right, and its context: that of the command with its own constants.
pub(super) fn parse(
    args: &Args<'_>,
    names: &Names,
    context: &Arc<Context>,
) -> Result<(Statement, Arc<Context>)> {
    let update = args.get(names.update).ok_or_else(|| args.missing(names.update))?;
    let constants = args.document(names.constants)?;
    if constants.is_some() && !matches!(update, ValueRef::Array(_)) {
        let message = "Constant values may only be specified for pipeline updates";
        return Err(Error::new(51198, message));
    }
    let many = args.bool("multi")?.unwrap_or(false);
    let statement = Statement {
        find: find(args, names.filter)?,
        edit: edit(update, args, many)?,
        many,
        upsert: args.bool("upsert")?.unwrap_or(false),
    };
    Ok((statement, with_constants(context, constants)))
}

/// Adds the constants of a statement.
fn with_constants(context: &Arc<Context>, constants: Option<DocRef<'_>>) -> Arc<Context> {
    let Some(constants) = constants else { return Arc::clone(context) };
    let mut own = Context::clone(context);
    for (name, value) in constants.iter() {
        own.constants.insert(name, value);
    }
    Arc::new(own)
}

/// Which documents a statement means.
pub(super) fn find(args: &Args<'_>, name: &str) -> Result<Find> {
    args.simple_collation()?;
    let filter = mongo_query::filter::parse(args.need_document(name)?)?;
    let sort = args.document("sort")?.filter(|sort| !sort.is_empty());
    let sort = sort.map(mongo_query::sort::parse).transpose()?;
    let hint: Hint = hint(args)?;
    Ok(Find { sort, hint, ..Find::new(filter) })
}

/// An edit that leaves the reserved property alone.
pub(super) fn edit(update: ValueRef<'_>, args: &Args<'_>, many: bool) -> Result<Edit> {
    let edit = mongo_query::update::parse(update, args.array("arrayFilters")?, many)?;
    if edit.touches_root(RESERVED) {
        return Err(reserved());
    }
    Ok(edit)
}

/// Runs a statement. A collection is only made for an upsert.
pub(super) async fn execute<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    mut statement: Statement,
    context: &Arc<Context>,
) -> Result<Updated> {
    call.door.timestamps.fill_edit(&mut statement.edit, context.now_ms);
    let writer = call.writer(clock::Instant::from_ms(context.now_ms));
    let update = engine::Update {
        find: statement.find,
        edit: &statement.edit,
        many: statement.many,
        upsert: statement.upsert,
        context: Arc::clone(context),
        writer: &writer,
    };
    loop {
        let collection = match call.find(namespace) {
            Some(collection) => collection,
            None if update.upsert => call.ensure(namespace).await?.0,
            None => return Ok(Updated::default()),
        };
        let updated = call.door.engine.update(&collection, &update).await;
        if !Call::<S>::came_late(&updated) {
            let updated = updated?;
            Counters::add(&call.connection.counters.updated, updated.modified as u64);
            return Ok(updated);
        }
    }
}
