//! `$graphLookup`: follows references from a row through another collection, finding each document
//! once.
//!
//! ```text
//! {$graphLookup: {from: "c", startWith: "$boss", connectFromField: "boss", connectToField: "_id",
//!     as: "chain", maxDepth: 5, depthField: "level", restrictSearchWithMatch: {..}}}
//! ```

use document::{Number, ValueRef};
use pipeline::exec::{GraphLookup, Stage};

use super::{
    Scope,
    join::{check_collection, parse_path},
};
use crate::{Error, expression, filter};

/// Parses `$graphLookup`. All but the last three options are required (40105).
///
/// Fails with 9 if the value is not an object or `from` is not a string, 40185 if the filter is not
/// an object, 40103 if a path is not a string, and 40104 if an option is unknown.
pub(super) fn parse_graph_lookup(
    name: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let ValueRef::Document(options) = value else {
        let kind = value.kind().name();
        let text = format!("the {name} stage specification must be an object, but found {kind}");
        return Err(Error::new(9, text));
    };
    let (mut collection, mut start, mut from, mut to) = (None, None, None, None);
    let (mut output, mut max_depth, mut depth_name, mut restrict) = (None, None, None, None);
    for (option, value) in options.iter() {
        let kind = value.kind().name();
        match (option, value) {
            ("startWith", value) => start = Some(expression::parse(value)?),
            ("maxDepth", value) => max_depth = Some(parse_depth(value)?),
            ("restrictSearchWithMatch", ValueRef::Document(fields)) => {
                restrict = Some(filter::parse(fields)?);
            }
            ("restrictSearchWithMatch", _) => {
                let text = format!("restrictSearchWithMatch must be an object, found {kind}");
                return Err(Error::new(40185, text));
            }
            ("from", ValueRef::String(text)) => {
                check_collection(name, text)?;
                collection = Some(text.to_owned());
            }
            ("from", _) => {
                let text = format!("{name} 'from' field must be a string, but found {kind}");
                return Err(Error::new(9, text));
            }
            ("as", ValueRef::String(text)) => output = Some(parse_path(text)?),
            ("connectFromField", ValueRef::String(text)) => from = Some(parse_path(text)?),
            ("connectToField", ValueRef::String(text)) => to = Some(parse_path(text)?),
            ("depthField", ValueRef::String(text)) => depth_name = Some(parse_path(text)?),
            ("as" | "connectFromField" | "connectToField" | "depthField", _) => {
                let text = format!("expected string as argument for {option}, found: {kind}");
                return Err(Error::new(40103, text));
            }
            (other, _) => {
                return Err(Error::new(40104, format!("Unknown argument to {name}: {other}")));
            }
        }
    }
    let (Some(collection), Some(start), Some(from), Some(to), Some(output)) =
        (collection, start, from, to, output)
    else {
        let text = "requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.";
        return Err(Error::new(40105, format!("{name} {text}")));
    };
    Ok(vec![Stage::GraphLookup(Box::new(GraphLookup {
        collection,
        start,
        from,
        to,
        name: output,
        max_depth,
        depth_name,
        filter: restrict,
    }))])
}

/// Parses the maximum depth; 0 is the first level. A fraction is an error; the error text contains
/// the truncated number.
///
/// Fails with 40100 if the value is not a number, 40102 if it has a fraction, and 40101 if it is
/// negative.
fn parse_depth(value: ValueRef<'_>) -> Result<u64, Error> {
    let Some(number) = Number::of(value) else {
        let text = format!("maxDepth must be numeric, found type: {}", value.kind().name());
        return Err(Error::new(40100, text));
    };
    let Some(whole) = number.to_i64_exact() else {
        let text = "maxDepth could not be represented as a long long:";
        return Err(Error::new(40102, format!("{text} {}", number.to_f64() as i64)));
    };
    let text = format!("maxDepth requires a nonnegative argument, found: {whole}");
    u64::try_from(whole).map_err(|_| Error::new(40101, text))
}
