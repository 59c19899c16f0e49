//! Operators over the elements of arrays. Most bind a variable for the element, by default `this`,
//! else the name in `as`.
//!
//! ```text
//! {$map: {input: "$a", as: "x", in: {$add: ["$$x", 1]}}}
//! {$filter: {input: "$a", as: "x", cond: {$gt: ["$$x", 5]}, limit: 2}}
//! {$reduce: {input: "$a", initialValue: 0, in: {$add: ["$$value", "$$this"]}}}
//! {$zip: {inputs: ["$a", "$b"], useLongestLength: true, defaults: [0, 0]}}
//! ```

use std::sync::Arc;

use document::{Number, ValueRef, shell};
use pipeline::{
    Expr,
    expr::{Filtering, Mapping, SortBy},
    sort::MAX_SORT_PARTS,
};

use super::{
    Scope, folded_array, form,
    named::{self, optional, required},
    parse_operand, variable_name,
};
use crate::{Error, sort};

/// Returns the name of an element's variable.
///
/// Fails with 9 if the value is not a string, or a variable cannot have this name.
fn element_name(name: &str, given: Option<ValueRef<'_>>) -> Result<Arc<str>, Error> {
    match given {
        None => Ok(Arc::from("this")),
        Some(ValueRef::String(text)) => {
            variable_name(text)?;
            Ok(Arc::from(text))
        }
        Some(other) => {
            let kind = other.kind().name();
            Err(Error::new(9, format!("{name} 'as' must be a string, found: {kind}")))
        }
    }
}

/// Parses a required argument. The caller has checked that the argument is present, so the error
/// for a missing one does not occur.
fn required_operand(name: &str, given: Option<ValueRef<'_>>, scope: Scope) -> Result<Expr, Error> {
    match given {
        Some(value) => parse_operand(value, scope),
        None => Err(Error::new(9, format!("Missing parameter to {name}"))),
    }
}

/// Parses `$map`: an expression for each element, optionally with a variable for its index.
///
/// Fails with 16878 to 16882 if the value is not an object or an argument is unknown or missing.
pub(super) fn parse_map(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let params = [required("input"), optional("as"), required("in"), optional("arrayIndexAs")];
    let given = named::given_values(name, &params, value)?;
    let [input, variable, body, index] = given[..] else {
        return Err(Error::new(16878, "$map only supports an object as its argument"));
    };
    let variable = element_name(name, variable)?;
    // `arrayIndexAs` is newer than mongod 6.0 and follows the rules of other variables.
    let index = index.map(|index| element_name(name, Some(index))).transpose()?;
    // Only the body sees the element; the input is parsed in the outer scope.
    let inner = Scope { rebound: scope.rebound || &*variable == "CURRENT", ..scope };
    Ok(Expr::Map(Box::new(Mapping {
        input: required_operand(name, input, scope)?,
        name: variable,
        index,
        body: required_operand(name, body, inner)?,
    })))
}

/// Parses `$filter`: the elements that meet a condition, at most `limit` of them.
///
/// Fails with 28646 to 28650 if the value is not an object or an argument is unknown or missing.
pub(super) fn parse_filter(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let params = [required("input"), optional("as"), required("cond"), optional("limit")];
    let given = named::given_values(name, &params, value)?;
    let [input, variable, condition, limit] = given[..] else {
        return Err(Error::new(28646, "$filter only supports an object as its argument"));
    };
    let variable = element_name(name, variable)?;
    let inner = Scope { rebound: scope.rebound || &*variable == "CURRENT", ..scope };
    Ok(Expr::Filter(Box::new(Filtering {
        input: required_operand(name, input, scope)?,
        name: variable,
        condition: required_operand(name, condition, inner)?,
        limit: limit.map_or(Ok(Expr::Absent), |limit| parse_operand(limit, scope))?,
    })))
}

/// Parses `$reduce`, which combines all elements in order into one value. Its variables are `value`
/// and `this`.
///
/// Fails with 40075 to 40079 if the value is not an object or an argument is unknown or missing.
pub(super) fn parse_reduce(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let params = [required("input"), required("initialValue"), required("in")];
    let parts = named::parse_arguments(name, &params, value, scope)?;
    match <[Expr; 3]>::try_from(parts) {
        Ok(parts) => Ok(Expr::Reduce(Box::new(parts))),
        Err(_) => Err(Error::new(40075, format!("{name} requires an object as an argument"))),
    }
}

/// Parses `$sortArray`: by fields, or by the whole elements with `1` and `-1`. The error texts are
/// mongod's; those for a wrong sort pattern start with "BadValue:".
///
/// Fails with 2942500 to 2942503 if the value is not an object or an argument is unknown or
/// missing, 2942505 if the sort pattern is invalid, 2942506 if the sort is a number other than 1
/// and -1, and 2942507 if it has any other type.
pub(super) fn parse_sort_array(
    name: &str,
    value: ValueRef<'_>,
    scope: Scope,
) -> Result<Expr, Error> {
    let given = named::given_values(name, &[required("input"), required("sortBy")], value)?;
    let [input, Some(by)] = given[..] else {
        return Err(Error::new(2_942_503, "$sortArray requires 'sortBy' to be specified"));
    };
    let by = match by {
        ValueRef::Document(fields) => {
            let wrong = |text: String| Error::new(2_942_505, format!("BadValue: {text}"));
            let sort = sort::parse_elements(fields).map_err(wrong)?;
            if MAX_SORT_PARTS < sort.parts.len() {
                return Err(wrong("too many compound keys".to_owned()));
            }
            SortBy::Fields(sort)
        }
        by => match Number::of(by).map(Number::to_i64_exact) {
            Some(Some(1)) => SortBy::Whole(false),
            Some(Some(-1)) => SortBy::Whole(true),
            Some(_) => {
                let text = "The $sort element value must be either 1 or -1";
                return Err(Error::new(2_942_506, text));
            }
            None => {
                let text = "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields";
                return Err(Error::new(2_942_507, text));
            }
        },
    };
    Ok(Expr::SortArray(Box::new(required_operand(name, input, scope)?), by))
}

/// Parses `$zip`, which combines arrays element by element. `defaults` fill the shorter arrays up
/// to the length of the longest; they require `useLongestLength`.
///
/// Fails with 34460 to 34465 if the value or an argument has a wrong type or an argument is unknown
/// or missing, 34466 if there are defaults without `useLongestLength`, and 34467 if there are not
/// as many defaults as inputs.
pub(super) fn parse_zip(name: &str, value: ValueRef<'_>, scope: Scope) -> Result<Expr, Error> {
    let params = [required("inputs"), optional("useLongestLength"), optional("defaults")];
    let given = named::given_values(name, &params, value)?;
    let [Some(inputs), longest, defaults] = given[..] else {
        return Err(Error::new(34465, "$zip requires at least one input array"));
    };
    let ValueRef::Array(inputs) = inputs else {
        let kind = inputs.kind().name();
        let text = format!("inputs must be an array of expressions, found {kind}");
        return Err(Error::new(34461, text));
    };
    if inputs.is_empty() {
        return Err(Error::new(34465, "$zip requires at least one input array"));
    }
    // Must be constant, because it decides whether defaults are allowed.
    let longest = match longest {
        None => false,
        Some(ValueRef::Bool(longest)) => longest,
        Some(other) => {
            let text = format!("useLongestLength must be a bool, found {}", shell(other));
            return Err(Error::new(34463, text));
        }
    };
    let parts = |values: document::ArrayRef<'_>| -> Result<Expr, Error> {
        let parts: Result<Vec<_>, _> =
            values.iter().map(|value| parse_operand(value, scope)).collect();
        Ok(folded_array(parts?))
    };
    let defaults = match defaults {
        None => Expr::Absent,
        Some(ValueRef::Array(values)) if !longest && !values.is_empty() => {
            let text = "cannot specify defaults unless useLongestLength is true";
            return Err(Error::new(34466, text));
        }
        Some(ValueRef::Array(values)) if !values.is_empty() && values.len() != inputs.len() => {
            return Err(Error::new(34467, "defaults and inputs must have the same length"));
        }
        Some(ValueRef::Array(values)) => parts(values)?,
        Some(other) => {
            let kind = other.kind().name();
            let text = format!("defaults must be an array of expressions, found {kind}");
            return Err(Error::new(34462, text));
        }
    };
    form::function_call(name, vec![parts(inputs)?, Expr::Literal(longest.into()), defaults])
}
