//! Aggregation pipelines: a table of stages. Each stage is parsed by a function of its own into one
//! or more stages of `query`: `$sortByCount`, for instance, is a group and a sort.
//!
//! Two things are done to the list here, since they need no data: neighbouring filters become one,
//! and a filter after a sort goes before it. Everything else that makes a pipeline fast is the
//! evaluator's.

/// `$bucket` and `$bucketAuto`.
mod bucket;
/// `$facet`.
mod facet;
/// `$graphLookup`.
mod graph_lookup;
/// `$group`, `$sortByCount` and accumulators.
mod group;
/// `$lookup` and `$unionWith`.
mod join;
/// `$project`, `$set`, `$unset`, `$replaceRoot`.
mod reshape;
/// `$match`, `$sort`, `$skip`, `$limit` and others of one value.
mod simple;
/// `$unwind`.
mod unwind;

#[cfg(test)]
mod tests;

use document::{ArrayRef, ValueRef};
use evaluation::as_program;
use pipeline::{Filter, exec::Stage};

#[cfg(test)]
pub(crate) use group::NOT_YET as ACCUMULATORS_NOT_YET;

use crate::error::Error;

/// Most stages of a pipeline; mongod's limit.
const MAX_STAGES: usize = 1000;
/// Deepest nesting of pipelines; mongod's limit.
const MAX_NESTED: usize = 20;

/// Where a pipeline stands. Some stages are not allowed inside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The command's own.
    Top,
    /// Inside `$facet`.
    Facet,
    /// Inside `$lookup`.
    Lookup,
    /// Inside `$unionWith`.
    Union,
}

/// Where a stage stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    place: Place,
    /// How many pipelines it is in.
    depth: usize,
}

impl Scope {
    /// A pipeline inside a stage of this one; 5107300 where that is too deep.
    fn nested_in(self, place: Place) -> Result<Self, Error> {
        if MAX_NESTED <= self.depth {
            let text = "Maximum number of nested sub-pipelines exceeded. Limit is 20";
            return Err(Error::new(5_107_300, text));
        }
        Ok(Self { place, depth: self.depth + 1 })
    }
}

/// Parses the value of a stage of this name.
type Parse = fn(&str, ValueRef<'_>, Scope) -> Result<Vec<Stage>, Error>;

/// Every stage that is supported.
static TABLE: &[(&str, Parse)] = &[
    ("$addFields", reshape::parse_add_fields),
    ("$bucket", bucket::parse_bucket),
    ("$bucketAuto", bucket::parse_bucket_auto),
    ("$count", simple::parse_count),
    ("$documents", simple::parse_documents),
    ("$facet", facet::parse_facet),
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

/// Stages that are known and not supported. The first two exist on replica sets only.
pub(crate) const NOT_YET: &[&str] = &[
    "$changeStream",
    "$changeStreamSplitLargeEvent",
    "$collStats",
    "$currentOp",
    "$densify",
    "$fill",
    "$geoNear",
    "$indexStats",
    "$listClusterCatalog",
    "$listLocalSessions",
    "$listSampledQueries",
    "$listSearchIndexes",
    "$listSessions",
    "$merge",
    "$out",
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

/// Stages that make the documents which the others work on, so that none can come before them.
const FIRST_ONLY: [&str; 6] = [
    "$collStats",
    "$currentOp",
    "$documents",
    "$indexStats",
    "$listLocalSessions",
    "$listSessions",
];

/// Whether a stage of this name is supported.
pub(crate) fn is_known(name: &str) -> bool {
    TABLE.iter().any(|(held, _)| *held == name)
}

/// The names of all stages.
#[cfg(test)]
pub(crate) fn stage_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

/// Parses the pipeline of an aggregation. All regular expressions in it share one limit of memory.
pub fn parse(pipeline: ArrayRef<'_>) -> Result<Vec<Stage>, Error> {
    as_program(|| parse_stages(pipeline, Scope { place: Place::Top, depth: 0 }))
}

/// Parses what stands behind a first stage that is not parsed here.
pub fn parse_rest(pipeline: ArrayRef<'_>) -> Result<Vec<Stage>, Error> {
    as_program(|| parse_behind(pipeline, Scope { place: Place::Top, depth: 0 }, true))
}

/// Parses a pipeline in its place.
///
/// Errors: 9 too many stages, 40602 a stage that has to be the first and is not, and those of the
/// stages.
pub(crate) fn parse_stages(pipeline: ArrayRef<'_>, scope: Scope) -> Result<Vec<Stage>, Error> {
    parse_behind(pipeline, scope, false)
}

/// The same, where `behind` says that another stage comes before all of these.
fn parse_behind(pipeline: ArrayRef<'_>, scope: Scope, behind: bool) -> Result<Vec<Stage>, Error> {
    let mut stages: Vec<Stage> = Vec::new();
    for (at, value) in pipeline.iter().enumerate() {
        if MAX_STAGES <= at {
            let text = format!("Pipeline length must be no longer than {MAX_STAGES} stages");
            return Err(Error::new(9, text));
        }
        let (name, value) = split_stage(value)?;
        if (behind || 0 < at) && FIRST_ONLY.contains(&name) {
            // What is wrong with the stage itself comes first.
            match is_known(name) {
                true => drop(parse_stage(name, value, scope)?),
                false => check_place(name, scope)?,
            }
            let text = format!("{name} is only valid as the first stage in a pipeline");
            return Err(Error::new(40602, text));
        }
        for stage in parse_stage(name, value, scope)? {
            push_stage(&mut stages, stage);
        }
    }
    Ok(stages)
}

/// Adds a stage. Neighbouring filters become one, and a filter after a sort goes before it: it need
/// not wait for the sort, and an index may serve it. A sort with a limit has decided already which
/// rows go on, so nothing passes it.
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

/// The name and the value of a stage.
///
/// Errors: 14 not a document, 40323 another number of fields than one.
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

/// Refuses a stage that is not allowed in its place; each place has a number of its own for that.
///
/// Errors: 40600 in a `$facet`, 31441 in a `$unionWith`, 51047 in a `$lookup`.
fn check_place(name: &str, scope: Scope) -> Result<(), Error> {
    let outside = match scope.place {
        Place::Facet => {
            ["$facet", "$out", "$merge", "$geoNear"].contains(&name) || FIRST_ONLY.contains(&name)
        }
        Place::Lookup | Place::Union => ["$out", "$merge"].contains(&name),
        Place::Top => false,
    };
    if outside {
        return Err(match scope.place {
            Place::Facet => {
                Error::new(40600, format!("{name} is not allowed to be used within a $facet stage"))
            }
            Place::Union => Error::new(
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

/// Parses a stage. What is not allowed in its place is refused before its value is looked at.
///
/// Errors: those of the place; 40573 for a change stream, which needs a replica set; 238 for what is
/// not supported and 40324 for what nobody has.
fn parse_stage(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Vec<Stage>, Error> {
    check_place(name, scope)?;
    if let Some((_, parse)) = TABLE.iter().find(|(held, _)| *held == name) {
        return parse(name, value, scope);
    }
    if name.starts_with("$changeStream") {
        let text = format!("The {name} stage is only supported on replica sets");
        return Err(Error::new(40573, text));
    }
    if NOT_YET.contains(&name) {
        return Err(Error::unsupported(name));
    }
    Err(unrecognized_stage(name))
}

/// Checks that each element of a pipeline is a stage of a known name, whatever its argument is.
/// Updates do this for all their statements before the first one runs.
pub fn check_stages(pipeline: ArrayRef<'_>) -> Result<(), Error> {
    for value in pipeline.iter() {
        let (name, _) = split_stage(value)?;
        if !is_known(name) && !NOT_YET.contains(&name) {
            return Err(unrecognized_stage(name));
        }
    }
    Ok(())
}

/// The error of a stage that MongoDB does not have either: 40324.
fn unrecognized_stage(name: &str) -> Error {
    Error::new(40324, format!("Unrecognized pipeline stage name: '{name}'"))
}

/// Parses the pipeline of an update: only stages that keep one document one document (72).
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
