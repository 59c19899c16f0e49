//! `$unwind`: one row for each element of an array.
//!
//! ```text
//! {$unwind: "$a"}
//! {$unwind: {path: "$a", includeArrayIndex: "at", preserveNullAndEmptyArrays: true}}
//! ```

use document::{Path, ValueRef};
use pipeline::exec::{Stage, Unwind};

use super::Scope;
use crate::{
    Error,
    field_path::{check_path, check_plain_path},
};

/// Parses `$unwind`, in its short or its long form. The path starts with `$`, the name of the index
/// does not.
///
/// Fails with 15981 if the value is neither a string nor an object, 28808 to 28811 if an option is
/// unknown or has a wrong type, 28812 if the path is missing, 28818 if the path does not start with
/// `$`, and 28822 if the name of the index does.
pub(super) fn parse_unwind(
    _: &str,
    value: ValueRef<'_>,
    _: Scope<'_>,
) -> Result<Vec<Stage>, Error> {
    let mut path = None;
    let mut index = None;
    let mut keep_empty = false;
    match value {
        ValueRef::String(text) => path = Some(text),
        ValueRef::Document(fields) => {
            for (option, value) in fields.iter() {
                let kind = value.kind().name();
                match (option, value) {
                    ("path", ValueRef::String(text)) => path = Some(text),
                    ("path", _) => {
                        let text = "expected a string as the path for $unwind stage, got";
                        return Err(Error::new(28808, format!("{text} {kind}")));
                    }
                    ("preserveNullAndEmptyArrays", ValueRef::Bool(keep)) => keep_empty = keep,
                    ("preserveNullAndEmptyArrays", _) => {
                        let text = "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got";
                        return Err(Error::new(28809, format!("{text} {kind}")));
                    }
                    ("includeArrayIndex", ValueRef::String(text)) if !text.is_empty() => {
                        if text.starts_with('$') {
                            let start = "includeArrayIndex option to $unwind stage should not be prefixed with a '$':";
                            return Err(Error::new(28822, format!("{start} {text}")));
                        }
                        check_path(text)?;
                        index = Some(Path::new(text));
                    }
                    ("includeArrayIndex", _) => {
                        let text = "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got";
                        return Err(Error::new(28810, format!("{text} {kind}")));
                    }
                    (other, _) => {
                        let text = format!("unrecognized option to $unwind stage: {other}");
                        return Err(Error::new(28811, text));
                    }
                }
            }
        }
        other => {
            let text =
                "expected either a string or an object as specification for $unwind stage, got";
            return Err(Error::new(15981, format!("{text} {}", other.kind().name())));
        }
    }
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(Error::new(28812, "no path specified to $unwind stage"));
    };
    let Some(field) = path.strip_prefix('$') else {
        let text = "path option to $unwind stage should be prefixed with a '$':";
        return Err(Error::new(28818, format!("{text} {path}")));
    };
    check_plain_path(field)?;
    Ok(vec![Stage::Unwind(Unwind { path: Path::new(field), index, keep_empty })])
}
