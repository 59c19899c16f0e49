//! Operators with special parsers, since they are not plain calls of functions.
//!
//! Functions evaluate all their arguments before the call. Of these operators, some leave arguments
//! unevaluated (`$cond`), some evaluate an argument many times (`$map`), and some require a
//! constant argument (`$literal`).

use document::ValueRef;
use pipeline::Expr;

use super::{Scope, form, iterate};
use crate::Error;

/// Parses the value of the operator with this name.
pub(super) type Parse = fn(&str, ValueRef<'_>, Scope) -> Result<Expr, Error>;

/// The operators and their parsers.
pub(super) static TABLE: &[(&str, Parse)] = &[
    ("$and", form::parse_and),
    ("$cond", form::parse_cond),
    ("$const", form::parse_literal),
    ("$expr", form::parse_expr),
    ("$filter", iterate::parse_filter),
    ("$getField", form::parse_get_field),
    ("$ifNull", form::parse_if_null),
    ("$let", form::parse_let),
    ("$literal", form::parse_literal),
    ("$map", iterate::parse_map),
    ("$meta", form::parse_meta),
    ("$or", form::parse_or),
    ("$reduce", iterate::parse_reduce),
    ("$regexFind", form::parse_regex),
    ("$regexFindAll", form::parse_regex),
    ("$regexMatch", form::parse_regex),
    ("$setField", form::parse_set_field),
    ("$sortArray", iterate::parse_sort_array),
    ("$switch", form::parse_switch),
    ("$unsetField", form::parse_set_field),
    ("$zip", iterate::parse_zip),
];

/// Returns the special parser of an operator, if any.
pub(super) fn find_parser(name: &str) -> Option<Parse> {
    TABLE.iter().find(|(held, _)| *held == name).map(|(_, parse)| *parse)
}
