//! Definitions of views: the rights and the checks of `create` and `collMod` with `viewOn`, and the
//! options of reads that are not permitted on views.
//!
//! ```text
//! {create: "v", viewOn: "c", pipeline: [..]}      {collMod: "v", viewOn: "c", pipeline: [..]}
//! ```
//!
//! A definition that would make a view read itself is refused. The check reads the catalog before
//! the commit, so two definitions that are stored at the same time may still form a circle; queries
//! refuse it then.

use std::collections::BTreeMap;

use collation::Collation;
use document::{ArrayRef, Document, ValueRef};
use engine::{
    Collection, Namespace,
    limits::{MAX_STORED_VIEW_BYTES, MAX_STORED_VIEW_DEPTH},
};
use evaluation::{Context, STEP};
use mongo_query::pipeline::output::WRITING_STAGES;
use pipeline::exec::{Stage, other_collections};

use crate::{
    access::Action,
    arguments::Args,
    call::Call,
    errors::{
        Error, GraphContainsCycle, InvalidNamespace, InvalidOptions, InvalidPipelineOperator,
        OptionNotSupportedOnView, Result, ViewDepthLimitExceeded, ViewPipelineMaxSizeExceeded,
    },
    names,
    rights::{CommandRequest, Object, Requirement},
    stored_view::{PIPELINE, VIEW_ON, is_view, parse_stored, view_options},
};

/// Returns the right that a definition in the arguments requires, if there is one: a sender that may
/// read the view has to be permitted to read what the view reads. Another sender gains nothing by
/// the view.
pub(super) fn definition_needs(request: &CommandRequest<'_>) -> Result<Option<Requirement>> {
    let Some(source) = request.body.get(VIEW_ON).and_then(ValueRef::as_str) else {
        return Ok(None);
    };
    let find = |name: Namespace| Requirement::of(Action::Find, Object::Collection(name));
    let mut read = vec![find(Namespace::new(request.database, source))];
    let pipeline = request.body.get(PIPELINE).and_then(ValueRef::as_array);
    // The command itself reports a wrong pipeline.
    if let Some(stages) = pipeline.and_then(|it| mongo_query::pipeline::parse(it).ok()) {
        read.extend(names_joined(&stages, request.database).into_iter().map(find));
    }
    Ok(Some(Requirement::Any(vec![
        Requirement::Not(Box::new(find(request.namespace()?))),
        Requirement::All(read),
    ])))
}

fn names_joined(stages: &[Stage], database: &str) -> Vec<Namespace> {
    let name = |(other, collection): (Option<&str>, &str)| {
        Namespace::new(other.unwrap_or(database), collection)
    };
    other_collections(stages).into_iter().map(name).collect()
}

/// Refuses options that a view cannot have (72).
pub(super) fn allow_only(args: &Args<'_>, allowed: &[&str], fields: &[&str]) -> Result<()> {
    let other = fields.iter().find(|name| !allowed.contains(name) && args.get(name).is_some());
    match other {
        Some(name) => {
            let message = format!("option not supported on a view: {name}");
            Err(Error::new(InvalidOptions, message))
        }
        None => Ok(()),
    }
}

/// Checks the definition of the view `namespace` in the arguments, whose texts compare by
/// `collation`, and returns the options that store it.
///
/// # Errors
///
/// 73 for an invalid name of the source, those of the pipeline, 167 for a stage that writes and for
/// a view below with another collation, 5 for a view that would read itself, 165 and 195 for views
/// that are nested too deeply or are too large together.
pub(super) async fn parse_definition(
    call: &Call<'_>,
    args: &Args<'_>,
    namespace: &Namespace,
    collation: Option<&Collation>,
) -> Result<Document> {
    let source = args.need_str(VIEW_ON)?;
    let invalid = || Error::new(InvalidNamespace, format!("invalid name for 'viewOn': {source}"));
    let source_name =
        names::parse_collection(&namespace.database, source).map_err(|_| invalid())?;
    names::check_no_dollar(&source_name).map_err(|_| invalid())?;
    let pipeline = args.array(PIPELINE)?.unwrap_or(ArrayRef::Tree(&[]));
    let first_fields = pipeline.iter().filter_map(ValueRef::as_document);
    let mut stage_names = first_fields.filter_map(|stage| Some(stage.iter().next()?.0));
    if let Some(name) = stage_names.find(|name| WRITING_STAGES.contains(name)) {
        let message = format!("{name} cannot be used in a view definition");
        return Err(Error::new(OptionNotSupportedOnView, message));
    }
    let stages = mongo_query::pipeline::parse_collated(pipeline, collation)?;
    if matches!(stages.first(), Some(Stage::Documents(_))) {
        let message = "'$documents' can only be run with {aggregate: 1}";
        return Err(Error::new(InvalidNamespace, message));
    }
    let context = call.evaluation_context().await?;
    let bytes = ValueRef::Array(pipeline).encoded_len();
    let mut graph =
        Graph { call, defined: namespace, collation, context: &context, known: BTreeMap::new() };
    graph.measure(&source_name, &stages, bytes, 1)?;
    let mut options = view_options(source, pipeline);
    if let Some(collation) = collation {
        options.push("collation", collation.to_document());
    }
    Ok(options)
}

/// The nesting of a view, and the size of its pipelines.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    /// Number of views on the longest way to a collection.
    height: usize,
    /// Bytes of the pipelines of the view and the views that it lies over.
    bytes: usize,
}

/// The views that a new definition leads to.
struct Graph<'g, 'a> {
    call: &'g Call<'a>,
    /// The view that gets the definition.
    defined: &'g Namespace,
    /// The collation of that view.
    collation: Option<&'g Collation>,
    context: &'g Context,
    /// Views that were measured before.
    known: BTreeMap<Namespace, Measure>,
}

impl Graph<'_, '_> {
    /// Measures a definition; `depth` is the number of views from the new one down to it.
    fn measure(
        &mut self,
        source: &Namespace,
        stages: &[Stage],
        bytes: usize,
        depth: usize,
    ) -> Result<Measure> {
        self.context.budget.spend(STEP + bytes)?;
        let below = self.measure_name(source, depth)?;
        let mut measure = Measure { height: below.height + 1, bytes: below.bytes + bytes };
        for name in names_joined(stages, &self.defined.database) {
            let joined = self.measure_name(&name, depth)?;
            measure.height = measure.height.max(joined.height + 1);
        }
        if MAX_STORED_VIEW_DEPTH < measure.height {
            return Err(too_deep());
        }
        if MAX_STORED_VIEW_BYTES < measure.bytes {
            let message = format!(
                "View pipeline exceeds maximum size; maximum size is {MAX_STORED_VIEW_BYTES}"
            );
            return Err(Error::new(ViewPipelineMaxSizeExceeded, message));
        }
        Ok(measure)
    }

    /// Measures what a name denotes; a collection has no height.
    fn measure_name(&mut self, name: &Namespace, depth: usize) -> Result<Measure> {
        if name == self.defined {
            let message = format!("View cycle detected: {name} would read itself");
            return Err(Error::new(GraphContainsCycle, message));
        }
        if MAX_STORED_VIEW_DEPTH < depth {
            return Err(too_deep());
        }
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        let held = self.call.find_collection(name).map(|held| held.state());
        let view = held.as_ref().map(|held| parse_stored(&held.record)).transpose()?.flatten();
        let (Some(view), Some(held)) = (view, held) else { return Ok(Measure::default()) };
        if held.collation.as_deref() != self.collation {
            let message =
                format!("View {} has conflicting collation with view {name}", self.defined);
            return Err(Error::new(OptionNotSupportedOnView, message));
        }
        let source = Namespace::new(name.database.as_str(), view.source);
        let measure = self.measure(&source, &view.stages, view.bytes, depth + 1)?;
        self.known.insert(name.clone(), measure);
        Ok(measure)
    }
}

fn too_deep() -> Error {
    let message = format!(
        "View depth too deep or view cycle detected; maximum depth is {MAX_STORED_VIEW_DEPTH}"
    );
    Error::new(ViewDepthLimitExceeded, message)
}

/// Refuses options of `find` that are not permitted on views (168), as mongod does, which runs the
/// command as an aggregate.
pub(super) fn check_find(found: Option<&Collection>, args: &Args<'_>) -> Result<()> {
    if !found.is_some_and(is_view) {
        return Ok(());
    }
    let refuse = |what: &str| {
        let message = format!("{what} not supported in aggregation.");
        Err(Error::new(InvalidPipelineOperator, message))
    };
    for name in ["min", "max"] {
        if args.document(name)?.is_some_and(|bound| !bound.is_empty()) {
            return refuse(&format!("Option {name}"));
        }
    }
    if args.strict_bool("tailable")?.unwrap_or(false) {
        return refuse("Tailable cursors are");
    }
    let single = args.strict_bool("singleBatch")?.unwrap_or(false);
    if single && args.count("limit")? != Some(1) {
        return refuse("Option singleBatch");
    }
    for name in ["returnKey", "showRecordId", "noCursorTimeout", "allowPartialResults"] {
        if args.strict_bool(name)?.unwrap_or(false) {
            return refuse(&format!("Option {name}"));
        }
    }
    Ok(())
}
