//! The `hint` of a command: the index to use, or `$natural` for the order of the collection.
//! Whether the index exists is checked when the query starts.

use document::{DocRef, Number, ValueRef};
use engine::{Direction, Hint};

use crate::{
    arguments::Args,
    errors::{BadValue, Error, FailedToParse, Result},
};

/// Returns the direction of `{$natural: 1}` or `{$natural: -1}`, which must be the only field;
/// `None` for other documents.
pub(crate) fn natural_order(sort: DocRef<'_>) -> Result<Option<Direction>> {
    let Some(order) = sort.get("$natural") else { return Ok(None) };
    match Number::of(order).and_then(Number::to_i64_exact) {
        Some(1) if sort.len() == 1 => Ok(Some(Direction::Forward)),
        Some(-1) if sort.len() == 1 => Ok(Some(Direction::Backward)),
        _ => {
            Err(Error::new(BadValue, "$natural sort cannot be set to a value other than -1 or 1."))
        }
    }
}

/// Parses the `hint` of a command: a name, a key pattern or `$natural`. An empty document means no
/// hint.
pub(crate) fn parse_hint(args: &Args<'_>) -> Result<Hint> {
    match args.get("hint") {
        None => Ok(Hint::None),
        Some(ValueRef::String(name)) => Ok(Hint::Index(name.to_owned())),
        Some(ValueRef::Document(pattern)) if pattern.is_empty() => Ok(Hint::None),
        Some(ValueRef::Document(pattern)) => match natural_order(pattern)? {
            Some(direction) => Ok(Hint::Natural(direction)),
            None => Ok(Hint::Key(pattern.to_tree())),
        },
        Some(_) => Err(Error::new(FailedToParse, "Hint must be a string or an object")),
    }
}

/// Returns whether the hinted index or order certainly covers all documents; false for an index
/// that may omit some or not exist. If true, a count without a filter can use the counters.
pub(crate) fn covers_all(hint: &Hint) -> bool {
    match hint {
        Hint::None | Hint::Natural(_) => true,
        Hint::Index(name) => name == "_id_",
        Hint::Key(pattern) => matches!(pattern.fields(), [(name, _)] if name == "_id"),
        Hint::Between { .. } => false,
    }
}
