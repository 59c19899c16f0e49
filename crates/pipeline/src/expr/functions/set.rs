//! Arrays as sets: elements are distinct in MongoDB's order, so that `1` and `1.0` are one element.
//! Results are in that order; `$setDifference` keeps the order of its first argument.

use std::collections::{BTreeMap, btree_map::Entry};

use document::{ArrayRef, BsonOrder, Value, ValueRef};
use evaluation::{Error, Growth, Size};

use super::{
    super::OptionalValue,
    Arity::{Any, Between, Exactly},
    Call, Function,
    arithmetic::NULL,
    row,
};
use crate::type_mismatch;

pub(super) const FUNCTIONS: &[Function] = &[
    row("$allElementsTrue", Exactly(1), all_true, "whether all elements are true"),
    row("$anyElementTrue", Exactly(1), any_true, "whether at least one element is true"),
    row(
        "$setDifference",
        Exactly(2),
        difference,
        "elements of the first array that are not in the second",
    ),
    row(
        "$setEquals",
        Between(2, usize::MAX),
        sets_equal,
        "whether the arrays have the same distinct elements",
    ),
    row("$setIntersection", Any, intersection, "elements that are in all arrays"),
    row(
        "$setIsSubset",
        Exactly(2),
        is_subset,
        "whether the second array contains all elements of the first",
    ),
    row("$setUnion", Any, union, "elements that are in at least one array"),
];

/// Distinct values by their order. If texts compare by a collation, the keys have sort keys in place
/// of texts, and the values are the original ones.
type Set = BTreeMap<BsonOrder, Option<Box<Value>>>;

/// Adds a value to a set; returns whether it is new.
fn insert(set: &mut Set, value: ValueRef<'_>, call: &Call<'_>) -> bool {
    let (key, original) = match call.env.context.collation() {
        None => (value.to_value(), None),
        Some(collation) => (collation.key_of_value(value), Some(value)),
    };
    match set.entry(BsonOrder(key)) {
        Entry::Occupied(_) => false,
        Entry::Vacant(entry) => {
            entry.insert(original.map(|value| Box::new(value.to_value())));
            true
        }
    }
}

/// Units of work charged for finding the position of a value in a set.
const SEARCH_WORK: usize = 256;

/// Adds values to a set. Only new values cost memory, but each is counted as work, since comparing
/// long values is work.
fn join_sets(
    set: &mut Set,
    values: ArrayRef<'_>,
    growth: &mut Growth<'_>,
    call: &Call<'_>,
) -> Result<(), Error> {
    for value in values.iter() {
        let size = Size::of_value(value);
        // For the search in the set and the copy made for it.
        call.env.context.budget.spend_bounded(SEARCH_WORK + size.bytes)?;
        if insert(set, value, call) {
            growth.add_size(size)?;
            if call.env.context.collation.is_some() {
                // The sort keys are held beside the value.
                growth.add_size(size)?;
            }
        }
    }
    Ok(())
}

fn set_of(values: ArrayRef<'_>, growth: &mut Growth<'_>, call: &Call<'_>) -> Result<Set, Error> {
    let mut set = Set::new();
    join_sets(&mut set, values, growth, call)?;
    Ok(set)
}

/// Returns the values of a set as an array in ascending order.
fn array_of(set: Set) -> OptionalValue {
    let values = set.into_iter().map(|(key, original)| original.map_or(key.0, |value| *value));
    Ok(Some(Value::Array(values.collect())))
}

/// Returns an array argument; `None` if it is null. `code` is the error number for other types.
fn set_operand<'a>(
    call: &Call<'a>,
    index: usize,
    code: i32,
) -> Result<Option<ArrayRef<'a>>, Error> {
    match call.value_at(index) {
        value if value.is_nullish() => Ok(None),
        ValueRef::Array(values) => Ok(Some(values)),
        value => {
            let (name, kind) = (call.name, value.kind().name());
            let text = "must be arrays. One argument is of type:";
            Err(type_mismatch(code, format!("All operands of {name} {text} {kind}")))
        }
    }
}

/// `$setUnion: [[1, 2], [2, 3]]` is `[1, 2, 3]`; null if an argument is null, empty without
/// arguments.
fn union(call: &Call<'_>) -> OptionalValue {
    let mut all = Set::new();
    let mut growth = call.new_growth();
    for index in 0..call.args.len() {
        let Some(values) = set_operand(call, index, 17043)? else { return NULL };
        join_sets(&mut all, values, &mut growth, call)?;
    }
    array_of(all)
}

/// `$setIntersection`: the elements that all arrays contain. Null if an argument is null or
/// missing; empty without arguments.
fn intersection(call: &Call<'_>) -> OptionalValue {
    let mut common: Option<Set> = None;
    for index in 0..call.args.len() {
        let Some(values) = set_operand(call, index, 17047)? else { return NULL };
        let set = set_of(values, &mut call.new_growth(), call)?;
        // Of equal values of different types that of the first array is kept.
        common = Some(match common {
            None => set,
            Some(mut common) => {
                common.retain(|value, _| set.contains_key(value));
                common
            }
        });
    }
    array_of(common.unwrap_or_default())
}

/// Returns an argument of a function of two sets. Null is an error; a caller that accepts null
/// checks for it first.
fn array_side<'a>(call: &Call<'a>, index: usize, code: i32) -> Result<ArrayRef<'a>, Error> {
    call.value_at(index).as_array().ok_or_else(|| {
        let (name, kind) = (call.name, call.arg_at(index).type_name());
        let which = if index == 0 { "First" } else { "Second" };
        let text = format!("{which} argument is of type: {kind}");
        type_mismatch(code, format!("both operands of {name} must be arrays. {text}"))
    })
}

/// `$setDifference: [[1, 2], [2]]` is `[1]`, in the order of the first. Kept elements are added to
/// the set of the second argument, so that duplicates are dropped.
fn difference(call: &Call<'_>) -> OptionalValue {
    if call.any_nullish() {
        return NULL;
    }
    let (left, right) = (array_side(call, 0, 17048)?, array_side(call, 1, 17049)?);
    let mut growth = call.new_growth();
    let mut seen = set_of(right, &mut growth, call)?;
    let mut kept = Vec::new();
    for value in left.iter() {
        let size = Size::of_value(value);
        call.env.context.budget.spend_bounded(SEARCH_WORK + size.bytes)?;
        if insert(&mut seen, value, call) {
            growth.add_size(size)?;
            kept.push(growth.copy_value(value)?);
        }
    }
    Ok(Some(Value::Array(kept)))
}

/// `$setIsSubset`: whether the second array contains all elements of the first.
fn is_subset(call: &Call<'_>) -> OptionalValue {
    let (left, right) = (array_side(call, 0, 17046)?, array_side(call, 1, 17042)?);
    let left = set_of(left, &mut call.new_growth(), call)?;
    let right = set_of(right, &mut call.new_growth(), call)?;
    Ok(Some(Value::Bool(left.keys().all(|value| right.contains_key(value)))))
}

/// `$setEquals`: whether all arrays have the same distinct elements. All arguments are checked for
/// errors, even after two differ.
fn sets_equal(call: &Call<'_>) -> OptionalValue {
    let mut first: Option<Set> = None;
    let mut same = true;
    for (index, arg) in call.args.iter().enumerate() {
        let Some(ValueRef::Array(values)) = arg.value() else {
            let text = format!("{}-th argument is of type: {}", index + 1, arg.type_name());
            let text = format!("All operands of $setEquals must be arrays. {text}");
            return Err(type_mismatch(17044, text));
        };
        let set = set_of(values, &mut call.new_growth(), call)?;
        match &first {
            Some(first) => same &= first.keys().eq(set.keys()),
            None => first = Some(set),
        }
    }
    Ok(Some(Value::Bool(same)))
}

/// Returns the only argument, which must be an array.
fn array_only<'a>(call: &Call<'a>, code: i32) -> Result<ArrayRef<'a>, Error> {
    call.value_at(0).as_array().ok_or_else(|| {
        let (name, kind) = (call.name, call.arg_at(0).type_name());
        type_mismatch(code, format!("{name}'s argument must be an array, but is {kind}"))
    })
}

/// `$anyElementTrue`: whether an element is not false, zero, null or undefined.
fn any_true(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Bool(array_only(call, 17041)?.iter().any(ValueRef::is_truthy))))
}

/// `$allElementsTrue`: whether all elements count as true; true for an empty array.
fn all_true(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Bool(array_only(call, 17040)?.iter().all(ValueRef::is_truthy))))
}
