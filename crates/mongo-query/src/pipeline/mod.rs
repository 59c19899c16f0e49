//! Aggregation pipelines: a table of stages. Each stage is parsed into one or more stages of the
//! crate `pipeline`: `$sortByCount`, for example, is a group and a sort.
//!
//! Two optimizations that need no data are made here: adjacent filters are merged, and a filter
//! after a sort is moved before it. All other optimizations are made by the evaluator and the
//! engine.

mod bucket;
mod facet;
mod geo_near;
mod graph_lookup;
mod group;
mod join;
pub mod output;
mod reshape;
mod simple;
mod unwind;

#[cfg(test)]
mod tests;

use collation::Collation;
use document::{ArrayRef, ValueRef};
use evaluation::as_program;
use pipeline::{Filter, exec::Stage};

#[cfg(test)]
pub(crate) use group::NOT_YET as ACCUMULATORS_NOT_YET;

use crate::Error;
use output::WRITING_STAGES;

/// Maximum number of stages of a pipeline, as in mongod.
const MAX_STAGES: usize = 1000;
/// Maximum nesting of pipelines, as in mongod.
const MAX_NESTED: usize = 20;

/// The enclosing stage of a pipeline, which restricts the allowed stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnclosingStage {
    /// The pipeline of a command, which no stage encloses.
    Top,
    Facet,
    Lookup,
    Union,
}

/// Properties of the pipelines that enclose a stage, on which its parsing depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'c> {
    enclosing: EnclosingStage,
    /// Number of pipelines that enclose the stage.
    depth: usize,
    /// Whether one of the pipelines that enclose the stage belongs to a `$facet`.
    in_facet: bool,
    /// The collation of the command, by which its stages compare texts; `None` compares bytes.
    collation: Option<&'c Collation>,
    /// Whether the input documents have the score of a text search.
    scored: bool,
}

impl<'c> Scope<'c> {
    /// Returns the scope of the stages in a command's own pipeline.
    fn top(collation: Option<&'c Collation>) -> Self {
        let enclosing = EnclosingStage::Top;
        Self { enclosing, depth: 0, in_facet: false, scored: false, collation }
    }

    /// Returns the scope of a pipeline that belongs to a stage in this scope, such as the pipeline
    /// of a `$facet`; fails with 5107300 if it is nested too deeply.
    fn nested_in(self, enclosing: EnclosingStage) -> Result<Self, Error> {
        if MAX_NESTED <= self.depth {
            let text = "Maximum number of nested sub-pipelines exceeded. Limit is 20";
            return Err(Error::new(5_107_300, text));
        }
        let in_facet = self.in_facet || enclosing == EnclosingStage::Facet;
        Ok(Self { enclosing, depth: self.depth + 1, in_facet, scored: false, ..self })
    }
}

/// Parses the operand of the stage with this name.
type Parse = fn(&str, ValueRef<'_>, Scope<'_>) -> Result<Vec<Stage>, Error>;

/// The supported stages and their parsers.
static TABLE: &[(&str, Parse)] = &[
    ("$addFields", reshape::parse_add_fields),
    ("$bucket", bucket::parse_bucket),
    ("$bucketAuto", bucket::parse_bucket_auto),
    ("$count", simple::parse_count),
    ("$documents", simple::parse_documents),
    ("$facet", facet::parse_facet),
    ("$geoNear", geo_near::parse_geo_near),
    ("$graphLookup", graph_lookup::parse_graph_lookup),
    ("$group", group::parse_group),
    ("$limit", simple::parse_limit),
    ("$lookup", join::parse_lookup),
    ("$match", simple::parse_match),
    ("$project", reshape::parse_project),
    ("$redact", simple::parse_redact),
    ("$replaceRoot", reshape::parse_replace_root),
    ("$replaceWith", reshape::parse_replace_with),
    ("$sample", simple::parse_sample),
    ("$set", reshape::parse_add_fields),
    ("$skip", simple::parse_skip),
    ("$sort", simple::parse_sort),
    ("$sortByCount", group::parse_sort_by_count),
    ("$unionWith", join::parse_union_with),
    ("$unset", reshape::parse_unset),
    ("$unwind", unwind::parse_unwind),
];

/// Known stages that are not supported. The first two exist on replica sets only.
pub(crate) const NOT_YET: &[&str] = &[
    "$changeStream",
    "$changeStreamSplitLargeEvent",
    "$collStats",
    "$currentOp",
    "$densify",
    "$fill",
    "$indexStats",
    "$listClusterCatalog",
    "$listLocalSessions",
    "$listSampledQueries",
    "$listSearchIndexes",
    "$listSessions",
    "$planCacheStats",
    "$querySettings",
    "$queryStats",
    "$rankFusion",
    "$score",
    "$scoreFusion",
    "$search",
    "$searchMeta",
    "$setWindowFields",
    "$shardedDataDistribution",
    "$vectorSearch",
];

/// Stages that create the input documents, so that they must come first.
const FIRST_ONLY: [&str; 7] = [
    "$collStats",
    "$currentOp",
    "$documents",
    "$geoNear",
    "$indexStats",
    "$listLocalSessions",
    "$listSessions",
];

/// Returns whether a stage is supported.
pub(crate) fn is_known(name: &str) -> bool {
    TABLE.iter().any(|(held, _)| *held == name) || WRITING_STAGES.contains(&name)
}

/// Returns the names of all supported stages.
#[cfg(test)]
pub(crate) fn stage_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name).chain(WRITING_STAGES)
}

/// Parses the pipeline of an aggregation. All regular expressions in it together have one memory
/// limit.
pub fn parse(pipeline: ArrayRef<'_>) -> Result<Vec<Stage>, Error> {
    parse_collated(pipeline, None)
}

/// Parses the pipeline of an aggregation that compares texts by `collation`.
pub fn parse_collated(
    pipeline: ArrayRef<'_>,
    collation: Option<&Collation>,
) -> Result<Vec<Stage>, Error> {
    as_program(|| parse_stages(pipeline, Scope::top(collation)))
}

/// Parses the pipeline of a command whose documents have the score of a search.
pub fn parse_scored(
    pipeline: ArrayRef<'_>,
    collation: Option<&Collation>,
) -> Result<Vec<Stage>, Error> {
    as_program(|| parse_stages(pipeline, Scope { scored: true, ..Scope::top(collation) }))
}

/// Parses a pipeline in its context.
///
/// Fails with 9 if there are too many stages, 40602 if a stage that must be the first one is not,
/// and with the errors of the stages.
pub(crate) fn parse_stages(pipeline: ArrayRef<'_>, scope: Scope<'_>) -> Result<Vec<Stage>, Error> {
    parse_stage_list(pipeline, scope, false)
}

/// Parses the stages of a pipeline in its context. `has_predecessor` states whether another stage
/// precedes them.
fn parse_stage_list(
    pipeline: ArrayRef<'_>,
    scope: Scope<'_>,
    has_predecessor: bool,
) -> Result<Vec<Stage>, Error> {
    let mut stages: Vec<Stage> = Vec::new();
    for (at, value) in pipeline.iter().enumerate() {
        if MAX_STAGES <= at {
            let text = format!("Pipeline length must be no longer than {MAX_STAGES} stages");
            return Err(Error::new(9, text));
        }
        let (name, value) = split_stage(value)?;
        if (has_predecessor || 0 < at) && FIRST_ONLY.contains(&name) {
            // Errors in the stage's value and context take precedence over that of its position.
            match is_known(name) {
                true => drop(parse_stage(name, value, scope)?),
                false => check_place(name, scope)?,
            }
            let text = format!("{name} is only valid as the first stage in a pipeline");
            return Err(Error::new(40602, text));
        }
        for stage in parse_stage(name, value, scope)? {
            if let Stage::Match(filter) = &stage
                && (has_predecessor || 0 < at)
                && filter.text_query().is_some()
            {
                let text = "$match with $text is only allowed as the first pipeline stage";
                return Err(Error::new(17313, text));
            }
            push_stage(&mut stages, stage);
        }
    }
    Ok(stages)
}

/// Adds a stage. Adjacent filters are merged. A filter after a sort is moved before it, so that
/// fewer rows are sorted and an index may serve it; but not if the sort has a limit, which selects
/// rows before the filter.
fn push_stage(stages: &mut Vec<Stage>, stage: Stage) {
    if matches!((stages.last(), &stage), (Some(Stage::Sort { limit: None, .. }), Stage::Match(_))) {
        let sort = stages.pop();
        push_stage(stages, stage);
        stages.extend(sort);
        return;
    }
    match (stages.last_mut(), stage) {
        (Some(Stage::Match(held)), Stage::Match(next)) => {
            let first = std::mem::replace(held, Filter::Never);
            *held = match first {
                Filter::And(mut all) => {
                    all.push(next);
                    Filter::And(all)
                }
                first => Filter::And(vec![first, next]),
            };
        }
        (_, stage) => stages.push(stage),
    }
}

/// Returns the name and the value of a stage.
///
/// Fails with 14 if the stage is not a document, and with 40323 if it does not have exactly one
/// field.
fn split_stage(value: ValueRef<'_>) -> Result<(&str, ValueRef<'_>), Error> {
    let ValueRef::Document(fields) = value else {
        let text = "Each element of the 'pipeline' array must be an object";
        return Err(Error::new(14, text));
    };
    let mut fields = fields.iter();
    match (fields.next(), fields.next()) {
        (Some(only), None) => Ok(only),
        _ => {
            let text = "A pipeline stage specification object must contain exactly one field.";
            Err(Error::new(40323, text))
        }
    }
}

/// Fails if a stage is not allowed in its context; the error number depends on the context.
///
/// Fails with 40600 in a `$facet`, and for a `$facet` at any depth inside another `$facet`; with
/// 31441 in a `$unionWith`; and with 51047 in a `$lookup`.
fn check_place(name: &str, scope: Scope<'_>) -> Result<(), Error> {
    let not_in_facet =
        || Error::new(40600, format!("{name} is not allowed to be used within a $facet stage"));
    if scope.in_facet && name == "$facet" {
        return Err(not_in_facet());
    }
    let outside = match scope.enclosing {
        EnclosingStage::Facet => {
            name == "$facet" || WRITING_STAGES.contains(&name) || FIRST_ONLY.contains(&name)
        }
        EnclosingStage::Lookup | EnclosingStage::Union => WRITING_STAGES.contains(&name),
        EnclosingStage::Top => false,
    };
    if outside {
        return Err(match scope.enclosing {
            EnclosingStage::Facet => not_in_facet(),
            EnclosingStage::Union => Error::new(
                31441,
                format!("{name} is not allowed within a $unionWith's sub-pipeline"),
            ),
            _ => {
                Error::new(51047, format!("{name} is not allowed within a $lookup's sub-pipeline"))
            }
        });
    }
    Ok(())
}

/// Parses a stage. Its context is checked before its value.
///
/// Fails with the errors of the context, 40602 or 20 if a stage of change streams is at a wrong
/// place, 238 if this server lacks a stage that MongoDB has, and 40324 if the stage is unknown.
fn parse_stage(name: &str, value: ValueRef<'_>, scope: Scope<'_>) -> Result<Vec<Stage>, Error> {
    check_place(name, scope)?;
    if let Some((_, parse)) = TABLE.iter().find(|(held, _)| *held == name) {
        return parse(name, value, scope);
    }
    if name == "$changeStream" {
        let text = "$changeStream is only valid as the first stage in a pipeline.";
        return Err(Error::new(40602, text));
    }
    if name.starts_with("$changeStream") {
        let text = format!("{name} can only be used in a $changeStream pipeline");
        return Err(Error::new(20, text));
    }
    if WRITING_STAGES.contains(&name) {
        return Err(output::not_last(name));
    }
    if NOT_YET.contains(&name) {
        return Err(Error::unsupported(name));
    }
    Err(unrecognized_stage(name))
}

/// Checks that each element of a pipeline is a stage with a known name, but not the stages'
/// arguments. An update command does this for all its statements before the first statement runs.
pub fn check_stages(pipeline: ArrayRef<'_>) -> Result<(), Error> {
    for value in pipeline.iter() {
        let (name, _) = split_stage(value)?;
        if !is_known(name) && !NOT_YET.contains(&name) {
            return Err(unrecognized_stage(name));
        }
    }
    Ok(())
}

/// Returns the error 40324 of a stage that does not exist in MongoDB.
fn unrecognized_stage(name: &str) -> Error {
    Error::new(40324, format!("Unrecognized pipeline stage name: '{name}'"))
}

/// Parses the pipeline of an update, in which only stages that map one document to one are allowed
/// (72).
pub fn parse_update(pipeline: ArrayRef<'_>) -> Result<Vec<Stage>, Error> {
    for value in pipeline.iter() {
        let (name, _) = split_stage(value)?;
        let allowed = ["$addFields", "$set", "$project", "$unset", "$replaceRoot", "$replaceWith"];
        if !allowed.contains(&name) && (is_known(name) || NOT_YET.contains(&name)) {
            let text = format!("{name} is not allowed to be used within an update");
            return Err(Error::new(72, text));
        }
    }
    parse(pipeline)
}
