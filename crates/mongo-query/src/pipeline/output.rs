//! Stages that write the result of a pipeline into a collection: `$out`, which replaces the
//! collection, and `$merge`, which changes its documents one by one. Such a stage is the last one of
//! a command's pipeline; it is no stage of the evaluator, since it reads and writes collections.
//!
//! ```text
//! {$out: "c"}    {$out: {db: "d", coll: "c"}}
//! {$merge: {into: "c", on: ["a", "b"], let: {..}, whenMatched: "merge", whenNotMatched: "insert"}}
//! ```

use std::{collections::HashSet, sync::Arc};

use collation::Collation;
use document::{ArrayRef, DocRef, ValueRef};
use evaluation::as_program;
use pipeline::{Expr, exec::Stage};

use super::{Scope, parse_stage_list, parse_update, split_stage};
use crate::{Error, expression, field_path::check_plain_path};

/// The stages that write the result of a pipeline.
pub const WRITING_STAGES: [&str; 2] = ["$out", "$merge"];

/// The collection that a stage writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputTarget {
    /// The collection's database, if the stage names one.
    pub database: Option<String>,
    /// The name of the collection.
    pub collection: String,
}

/// The last stage of a pipeline that writes its result.
#[derive(Clone, Debug)]
pub enum Output {
    /// The result replaces the documents of the collection.
    Out(OutputTarget),
    /// Each document of the result is merged into the collection.
    Merge(Box<Merge>),
}

impl Output {
    /// Returns the collection that the stage writes.
    pub fn target(&self) -> &OutputTarget {
        match self {
            Self::Out(target) => target,
            Self::Merge(merge) => &merge.target,
        }
    }

    /// Returns the name of the stage in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Out(_) => "$out",
            Self::Merge(_) => "$merge",
        }
    }
}

/// A `$merge` stage and its options.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The collection that the stage writes.
    pub target: OutputTarget,
    /// The paths whose values identify a document of the collection; `None` for `_id`.
    pub on: Option<Vec<String>>,
    /// Variables of the pipeline of `matched`, evaluated over the document of the result.
    pub variables: Vec<(Arc<str>, Expr)>,
    /// The treatment of documents that are in the collection.
    pub matched: WhenMatched,
    /// The treatment of documents that are not.
    pub not_matched: WhenNotMatched,
}

/// What `$merge` does with a document that is in the collection.
#[derive(Clone, Debug)]
pub enum WhenMatched {
    /// The document of the result replaces it.
    Replace,
    /// It stays as it is.
    KeepExisting,
    /// The fields of the document of the result are set in it.
    Merge,
    /// The command fails with a duplicate key.
    Fail,
    /// These stages compute the new document.
    Pipeline(Vec<Stage>),
}

/// What `$merge` does with a document that is not in the collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenNotMatched {
    /// The document is inserted into it.
    Insert,
    /// The document is left out.
    Discard,
    /// The command fails with error 13113.
    Fail,
}

/// Parses the pipeline of a command that compares texts by `collation`; its last stage may write.
/// `has_predecessor` states whether the caller has parsed a stage before.
///
/// # Errors
///
/// 40601 for a writing stage that is not the last one, and those of the stages.
pub fn parse_with_output(
    pipeline: ArrayRef<'_>,
    has_predecessor: bool,
    collation: Option<&Collation>,
) -> Result<(Vec<Stage>, Option<Output>), Error> {
    let scope = Scope::top(collation);
    let count = pipeline.iter().count();
    let mut output = None;
    for (at, value) in pipeline.iter().enumerate() {
        let Ok((name, _)) = split_stage(value) else { continue };
        if WRITING_STAGES.contains(&name) && at + 1 < count {
            return Err(not_last(name));
        }
        if at + 1 == count {
            output = parse_output(value)?;
        }
    }
    if output.is_none() {
        let stages = as_program(|| parse_stage_list(pipeline, scope, has_predecessor))?;
        return Ok((stages, None));
    }
    let rest: Vec<_> = pipeline.iter().take(count - 1).map(ValueRef::to_value).collect();
    let rest = ArrayRef::Tree(&rest);
    Ok((as_program(|| parse_stage_list(rest, scope, has_predecessor))?, output))
}

/// Parses a stage that writes; `None` for any other stage, right or wrong.
///
/// # Errors
///
/// Those of the stage.
pub fn parse_output(stage: ValueRef<'_>) -> Result<Option<Output>, Error> {
    Ok(match split_stage(stage) {
        Ok(("$out", value)) => Some(Output::Out(parse_out(value)?)),
        Ok(("$merge", value)) => Some(Output::Merge(Box::new(as_program(|| parse_merge(value))?))),
        _ => None,
    })
}

/// Returns the error (40601) of a writing stage at another place than the end of a command's
/// pipeline.
pub(super) fn not_last(name: &str) -> Error {
    Error::new(40601, format!("{name} can only be the final stage in the pipeline"))
}

/// Parses the value of `$out`.
///
/// # Errors
///
/// 16990 for another type, 40414 and 40415 for a wrong document, 73 for an invalid name, and 238 for
/// a time series.
fn parse_out(value: ValueRef<'_>) -> Result<OutputTarget, Error> {
    match value {
        ValueRef::String(name) => target_of("$out", None, name),
        ValueRef::Document(spec) => {
            if spec.get("timeseries").is_some() {
                return Err(Error::unsupported("$out with 'timeseries'"));
            }
            named_target("$out", spec)
        }
        other => {
            let kind = other.kind().name();
            let text = format!("$out only supports a string or object argument, but found {kind}");
            Err(Error::new(16990, text))
        }
    }
}

/// Parses `{db: .., coll: ..}`.
fn named_target(stage: &str, spec: DocRef<'_>) -> Result<OutputTarget, Error> {
    if let Some((unknown, _)) = spec.iter().find(|(name, _)| !["db", "coll"].contains(name)) {
        let text = format!("BSON field '{stage}.{unknown}' is an unknown field.");
        return Err(Error::new(40415, text));
    }
    let part = |name: &str| match spec.get(name) {
        Some(ValueRef::String(text)) => Ok(text),
        Some(other) => {
            let kind = other.kind().name();
            let text = format!(
                "BSON field '{stage}.{name}' is the wrong type '{kind}', expected type 'string'"
            );
            Err(Error::type_mismatch(text))
        }
        None => {
            let text = format!("BSON field '{stage}.{name}' is missing but a required field");
            Err(Error::new(40414, text))
        }
    };
    let database = match (spec.get("db"), stage) {
        (None, "$merge") => None,
        _ => Some(part("db")?),
    };
    target_of(stage, database, part("coll")?)
}

/// Checks the name of a target.
fn target_of(stage: &str, database: Option<&str>, name: &str) -> Result<OutputTarget, Error> {
    if name.is_empty() || name.starts_with('.') || name.contains(['$', '\0']) {
        return Err(Error::new(73, format!("Invalid {stage} target namespace, {name}")));
    }
    Ok(OutputTarget { database: database.map(str::to_owned), collection: name.to_owned() })
}

/// The names of the fields of `$merge`.
const MERGE_FIELDS: [&str; 5] = ["into", "on", "let", "whenMatched", "whenNotMatched"];

/// Parses the value of `$merge`.
///
/// # Errors
///
/// 51182 and 51178 for wrong types, 40414 and 40415 for missing and unknown fields, 2 for unknown
/// modes, 51181 for modes that do not go together, 51199 for `let` without a pipeline, and those of
/// `on`, `let` and the pipeline.
fn parse_merge(value: ValueRef<'_>) -> Result<Merge, Error> {
    let spec = match value {
        ValueRef::String(name) => {
            return Ok(Merge {
                target: target_of("$merge", None, name)?,
                on: None,
                variables: Vec::new(),
                matched: WhenMatched::Merge,
                not_matched: WhenNotMatched::Insert,
            });
        }
        ValueRef::Document(spec) => spec,
        other => {
            let kind = other.kind().name();
            let text = format!("$merge only supports a string or object argument, not {kind}");
            return Err(Error::new(51182, text));
        }
    };
    if let Some((unknown, _)) = spec.iter().find(|(name, _)| !MERGE_FIELDS.contains(name)) {
        let text = format!("BSON field '$merge.{unknown}' is an unknown field.");
        return Err(Error::new(40415, text));
    }
    let target = match spec.get("into") {
        Some(ValueRef::String(name)) => target_of("$merge", None, name)?,
        Some(ValueRef::Document(into)) => named_target("$merge", into)?,
        Some(other) => {
            let kind = other.kind().name();
            let text = format!(
                "$merge 'into' field must be either a string or an object, but found {kind}"
            );
            return Err(Error::new(51178, text));
        }
        None => {
            let text = "BSON field '$merge.into' is missing but a required field";
            return Err(Error::new(40414, text));
        }
    };
    let matched = parse_matched(spec.get("whenMatched"))?;
    let not_matched = parse_not_matched(spec.get("whenNotMatched"))?;
    check_modes(&matched, not_matched)?;
    let on = spec.get("on").map(parse_on).transpose()?;
    let variables = match (spec.get("let"), &matched) {
        (None, _) => Vec::new(),
        (Some(ValueRef::Document(bound)), WhenMatched::Pipeline(_)) => parse_let(bound)?,
        (Some(ValueRef::Document(_)), _) => {
            let text = "Cannot use 'let' variables with 'whenMatched: <mode>'; 'let' requires a \
                        pipeline";
            return Err(Error::new(51199, text));
        }
        (Some(other), _) => {
            let kind = other.kind().name();
            let text = format!(
                "BSON field '$merge.let' is the wrong type '{kind}', expected type 'object'"
            );
            return Err(Error::type_mismatch(text));
        }
    };
    Ok(Merge { target, on, variables, matched, not_matched })
}

fn parse_matched(value: Option<ValueRef<'_>>) -> Result<WhenMatched, Error> {
    Ok(match value {
        None | Some(ValueRef::String("merge")) => WhenMatched::Merge,
        Some(ValueRef::String("replace")) => WhenMatched::Replace,
        Some(ValueRef::String("keepExisting")) => WhenMatched::KeepExisting,
        Some(ValueRef::String("fail")) => WhenMatched::Fail,
        Some(ValueRef::Array(stages)) => WhenMatched::Pipeline(parse_update(stages)?),
        Some(ValueRef::String(other)) => return Err(unknown_mode("whenMatched", other)),
        Some(other) => {
            let kind = other.kind().name();
            let text = format!(
                "$merge 'whenMatched' field must be either a string or an array, but found {kind}"
            );
            return Err(Error::new(51191, text));
        }
    })
}

fn parse_not_matched(value: Option<ValueRef<'_>>) -> Result<WhenNotMatched, Error> {
    Ok(match value {
        None | Some(ValueRef::String("insert")) => WhenNotMatched::Insert,
        Some(ValueRef::String("discard")) => WhenNotMatched::Discard,
        Some(ValueRef::String("fail")) => WhenNotMatched::Fail,
        Some(ValueRef::String(other)) => return Err(unknown_mode("whenNotMatched", other)),
        Some(other) => {
            let kind = other.kind().name();
            let text = format!(
                "BSON field '$merge.whenNotMatched' is the wrong type '{kind}', expected type \
                 'string'"
            );
            return Err(Error::type_mismatch(text));
        }
    })
}

fn unknown_mode(field: &str, mode: &str) -> Error {
    let text =
        format!("Enumeration value '{mode}' for field '$merge.{field}' is not a valid value.");
    Error::bad_value(text)
}

/// Refuses modes that do not go together: what keeps or refuses present documents can only insert.
fn check_modes(matched: &WhenMatched, not_matched: WhenNotMatched) -> Result<(), Error> {
    let name = match matched {
        WhenMatched::KeepExisting => "keepExisting",
        WhenMatched::Fail => "fail",
        WhenMatched::Replace | WhenMatched::Merge | WhenMatched::Pipeline(_) => return Ok(()),
    };
    let other = match not_matched {
        WhenNotMatched::Insert => return Ok(()),
        WhenNotMatched::Discard => "discard",
        WhenNotMatched::Fail => "fail",
    };
    let text = format!(
        "Combination of $merge modes 'whenMatched: {name}' and 'whenNotMatched: {other}' is not \
         supported"
    );
    Err(Error::new(51181, text))
}

/// Parses the paths of `on`.
///
/// # Errors
///
/// 51186 and 51134 for wrong types, 51187 for an empty list, 31465 for a path that occurs twice.
fn parse_on(value: ValueRef<'_>) -> Result<Vec<String>, Error> {
    let list = match value {
        ValueRef::String(path) => {
            check_plain_path(path)?;
            return Ok(vec![path.to_owned()]);
        }
        ValueRef::Array(list) => list,
        other => {
            let kind = other.kind().name();
            let text = format!(
                "$merge 'on' field must be either a string or an array of strings, but found {kind}"
            );
            return Err(Error::new(51186, text));
        }
    };
    let (mut paths, mut seen) = (Vec::new(), HashSet::new());
    for value in list.iter() {
        let ValueRef::String(path) = value else {
            let kind = value.kind().name();
            let text = format!("$merge 'on' array elements must be strings, but found {kind}");
            return Err(Error::new(51134, text));
        };
        check_plain_path(path)?;
        if !seen.insert(path) {
            return Err(Error::new(31465, format!("Found a duplicate field '{path}'")));
        }
        paths.push(path.to_owned());
    }
    if paths.is_empty() {
        let text = "If explicitly specifying $merge 'on', must include at least one field";
        return Err(Error::new(51187, text));
    }
    Ok(paths)
}

/// Parses the variables of `let`. `new` is a variable of the stage itself, and may be given only as
/// the document of the result.
///
/// # Errors
///
/// 51273 for another value of `new`, and those of expressions.
fn parse_let(bound: DocRef<'_>) -> Result<Vec<(Arc<str>, Expr)>, Error> {
    let mut variables = Vec::new();
    for (name, value) in bound.iter() {
        expression::variable_name(name)?;
        if name == "new" && !matches!(value, ValueRef::String("$$ROOT")) {
            let text = "'let' may not define a value for the reserved 'new' variable other than \
                        '$$ROOT'";
            return Err(Error::new(51273, text));
        }
        variables.push((name.into(), expression::parse(value)?));
    }
    Ok(variables)
}
