//! Operators that are not plain calls of functions.

use document::ValueRef;
use query::Expr;

use super::{Scope, form, iterate};
use crate::error::Error;

/// Parses the value of an operator.
pub(super) type Parse = fn(&str, ValueRef<'_>, Scope) -> Result<Expr, Error>;

/// Every such operator.
pub(super) static TABLE: &[(&str, Parse)] = &[
    ("$and", form::and),
    ("$cond", form::cond),
    ("$const", form::literal),
    ("$expr", form::expr),
    ("$filter", iterate::filter),
    ("$getField", form::get_field),
    ("$ifNull", form::if_null),
    ("$let", form::let_in),
    ("$literal", form::literal),
    ("$map", iterate::map),
    ("$or", form::or),
    ("$reduce", iterate::reduce),
    ("$regexFind", form::regex),
    ("$regexFindAll", form::regex),
    ("$regexMatch", form::regex),
    ("$setField", form::set_field),
    ("$sortArray", iterate::sort_array),
    ("$switch", form::switch),
    ("$unsetField", form::set_field),
    ("$zip", iterate::zip),
];

/// The parser of this operator.
pub(super) fn find(name: &str) -> Option<Parse> {
    TABLE.iter().find(|(held, _)| *held == name).map(|(_, parse)| *parse)
}
