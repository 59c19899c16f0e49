//! Stages that read other collections: `$lookup` and `$unionWith`. Only the names of collections
//! are parsed; collections are looked up when the query starts.
//!
//! ```text
//! {$lookup: {from: "c", localField: "a", foreignField: "b", as: "out"}}
//! {$lookup: {from: "c", let: {x: "$a"}, pipeline: [..], as: "out"}}
//! {$unionWith: "c"}    {$unionWith: {coll: "c", pipeline: [..]}}
//! ```

use std::sync::Arc;

use document::{Path, ValueRef, shell};
use pipeline::exec::{Lookup, Stage, UnionWith};

use super::{EnclosingStage, Scope, parse_stages};
use crate::{Error, expression, field_path::check_plain_path};

/// Parses a path of fields in the input rows or in the joined collection.
pub(super) fn parse_path(text: &str) -> Result<Path, Error> {
    check_plain_path(text)?;
    Ok(Path::new(text))
}

/// Checks the name of the collection that a stage reads in addition to its input; fails with 73 if
/// no collection can have this name.
pub(super) fn check_collection(stage: &str, name: &str) -> Result<(), Error> {
    if name.is_empty() || name.starts_with('.') || name.contains(['$', '\0']) {
        return Err(Error::new(73, format!("invalid {stage} namespace: {name}")));
    }
    Ok(())
}

/// The options of a `$lookup`.
#[derive(Default)]
struct LookupOptions<'v> {
    /// The joined collection, and its database if it is specified.
    from: Option<(Option<String>, String)>,
    /// Name of the field that receives the joined documents.
    name: Option<&'v str>,
    /// Field of the input row whose value is compared.
    local: Option<&'v str>,
    /// Field of the joined collection whose value is compared.
    foreign: Option<&'v str>,
    variables: Option<document::DocRef<'v>>,
    /// The pipeline over the joined documents.
    pipeline: Option<document::ArrayRef<'v>>,
}

/// Creates an error with code 9, which most failures of `$lookup` and `$unionWith` have.
fn failed_to_parse(text: impl Into<String>) -> Error {
    Error::new(9, text)
}

/// Parses the options of `$lookup`, checking their types. All options except the pipeline and the
/// variables are strings.
fn parse_options(value: ValueRef<'_>) -> Result<LookupOptions<'_>, Error> {
    let ValueRef::Document(fields) = value else {
        let kind = value.kind().name();
        let text = format!("the $lookup stage specification must be an object, but found {kind}");
        return Err(failed_to_parse(text));
    };
    let mut given = LookupOptions::default();
    for (option, value) in fields.iter() {
        let kind = value.kind().name();
        match (option, value) {
            ("pipeline", ValueRef::Array(pipeline)) => given.pipeline = Some(pipeline),
            ("pipeline", _) => {
                return Err(Error::new(14, "'pipeline' option must be specified as an array"));
            }
            ("let", ValueRef::Document(variables)) => given.variables = Some(variables),
            ("let", _) => {
                let shown = shell(value);
                let text =
                    format!("$lookup argument 'let: {shown}' must be an object, is type {kind}");
                return Err(failed_to_parse(text));
            }
            ("from", ValueRef::String(name)) => {
                check_collection("$lookup", name)?;
                given.from = Some((None, name.to_owned()));
            }
            ("from", ValueRef::Document(name)) => {
                let part = |part: &str| name.get(part).and_then(ValueRef::as_str);
                let (database, collection) = (part("db"), part("coll"));
                let shown = (database.unwrap_or(""), collection.unwrap_or(""));
                let text = format!(
                    "$lookup with syntax {{from: {{db:<>, coll:<>}},..}} is not supported for db: {} and coll: {}",
                    shown.0, shown.1
                );
                return Err(failed_to_parse(text));
            }
            ("from", _) => {
                let text = format!("$lookup 'from' field must be a string, but found {kind}");
                return Err(failed_to_parse(text));
            }
            (option, ValueRef::String(text)) => match option {
                "as" => given.name = Some(text),
                // Empty fields count as not given.
                "localField" => given.local = Some(text).filter(|text| !text.is_empty()),
                "foreignField" => given.foreign = Some(text).filter(|text| !text.is_empty()),
                other => {
                    return Err(failed_to_parse(format!("unknown argument to $lookup: {other}")));
                }
            },
            (other, value) => {
                let shown = shell(value);
                let text = format!("$lookup argument '{other}' must be a string, found");
                return Err(failed_to_parse(format!("{text} {other}: {shown}: {kind}")));
            }
        }
    }
    Ok(given)
}

/// Parses `$lookup`: by a pair of fields, by a pipeline, or both. Without a collection the pipeline
/// must create its documents itself.
///
/// Fails with 14 if `pipeline` is not an array, 9 if another option is unknown, missing or of a
/// wrong type, and with the errors of the paths, the variables and the pipeline.
pub(super) fn parse_lookup(
    _: &str,
    value: ValueRef<'_>,
    scope: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let given = parse_options(value)?;
    let name =
        given.name.ok_or_else(|| failed_to_parse("must specify 'as' field for a $lookup"))?;
    let join = match (given.local, given.foreign) {
        (Some(local), Some(foreign)) => Some((parse_path(local)?, parse_path(foreign)?)),
        (None, None) if given.pipeline.is_some() => None,
        (None, None) | (Some(_), None) | (None, Some(_)) => {
            let text = "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified";
            return Err(failed_to_parse(text));
        }
    };
    if given.variables.is_some() && given.pipeline.is_none() {
        return Err(failed_to_parse("$lookup with a 'let' argument must also specify 'pipeline'"));
    }
    let inner = match given.pipeline {
        Some(pipeline) => parse_stages(pipeline, scope.nested_in(EnclosingStage::Lookup)?)?,
        None => Vec::new(),
    };
    // A pipeline with `$documents` needs no collection.
    let from_documents = matches!(inner.first(), Some(Stage::Documents(_)));
    let (database, collection) = match given.from {
        Some(from) => from,
        None if from_documents => (None, String::new()),
        None => {
            let text = "$lookup stage without explicit collection must have a pipeline with $documents as first stage";
            return Err(failed_to_parse(text));
        }
    };
    let mut variables = Vec::new();
    for (name, value) in given.variables.iter().flat_map(|variables| variables.iter()) {
        expression::variable_name(name)?;
        variables.push((Arc::from(name), expression::parse(value)?));
    }
    Ok(vec![Stage::Lookup(Box::new(Lookup {
        database,
        collection,
        name: parse_path(name)?,
        join,
        variables,
        stages: inner.into(),
    }))])
}

/// Parses `$unionWith`: a collection, optionally with a pipeline over it.
///
/// Fails with 9 if the value is neither an object nor a string, 14 if a field has a wrong type, and
/// 40415 if a field is unknown. mongod parses the fields by a schema, so their errors differ from
/// those of other stages.
pub(super) fn parse_union_with(
    _: &str,
    value: ValueRef<'_>,
    scope: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let (mut collection, mut pipeline) = (None, None);
    match value {
        ValueRef::String(name) => collection = Some(name),
        ValueRef::Document(fields) => {
            for (option, value) in fields.iter() {
                let wrong = |wanted: &str| {
                    let kind = value.kind().name();
                    let text = format!("is the wrong type '{kind}', expected type '{wanted}'");
                    Error::new(14, format!("BSON field '$unionWith.{option}' {text}"))
                };
                match option {
                    "coll" => collection = Some(value.as_str().ok_or_else(|| wrong("string"))?),
                    "pipeline" => pipeline = Some(value.as_array().ok_or_else(|| wrong("array"))?),
                    other => {
                        let text = format!("BSON field '$unionWith.{other}' is an unknown field.");
                        return Err(Error::new(40415, text));
                    }
                }
            }
        }
        other => {
            let kind = other.kind().name();
            let text = "the $unionWith stage specification must be an object or string, but found";
            return Err(failed_to_parse(format!("{text} {kind}")));
        }
    }
    let inner = match pipeline {
        Some(pipeline) => parse_stages(pipeline, scope.nested_in(EnclosingStage::Union)?)?,
        None => Vec::new(),
    };
    let from_documents = matches!(inner.first(), Some(Stage::Documents(_)));
    let collection = match collection {
        Some(collection) => {
            check_collection("$unionWith", collection)?;
            collection.to_owned()
        }
        None if from_documents => String::new(),
        None => {
            let text = "$unionWith stage without explicit collection must have a pipeline with $documents as first stage";
            return Err(failed_to_parse(text));
        }
    };
    let union = UnionWith { database: None, collection, stages: inner.into() };
    Ok(vec![Stage::UnionWith(Box::new(union))])
}
