//! Arrays as sets: elements are distinct by value. Results are in the order of first occurrence.

use std::collections::BTreeSet;

use document::{ArrayRef, Value};
use evaluation::{Error, Evaluated};

use super::{Call, Function, UNDEFINED, row};
use crate::{order::InOrder, work::work_of_placing};

pub(super) const FUNCTIONS: &[Function] = &[
    row("SETDIFFERENCE", 2..=2, difference),
    row("SETEQUAL", 2..=2, set_equal),
    row("SETINTERSECT", 2..=2, intersection),
    row("SETUNION", 2..=2, union),
];

/// Units of work charged for finding the position of a value in a set.
pub(super) const PLACE: usize = 256;

/// Values in their total order, borrowed from the arguments.
pub(super) type Set<'v> = BTreeSet<InOrder<'v>>;

fn both_arrays<'c>(call: &Call<'c, '_>) -> Option<(ArrayRef<'c>, ArrayRef<'c>)> {
    Some((call.array_at(0)?, call.array_at(1)?))
}

/// Builds the set of an array's elements, counting the work of each lookup.
pub(super) fn set_of<'v>(call: &Call<'_, '_>, array: ArrayRef<'v>) -> Result<Set<'v>, Error> {
    let mut set = Set::new();
    for value in array.iter() {
        call.spend_work(PLACE.saturating_add(work_of_placing(value, set.len())))?;
        set.insert(InOrder(value));
    }
    Ok(set)
}

/// Returns the elements of an array that `takes` accepts. `takes` is called once per element and
/// may remember the values that it has accepted, to accept each value once. `others` is the number
/// of values among which it searches, which determines the work charged.
fn keep_elements<'v, 'a>(
    call: &Call<'_, '_>,
    array: ArrayRef<'v>,
    others: usize,
    mut takes: impl FnMut(InOrder<'v>) -> bool,
) -> Result<Evaluated<'a>, Error> {
    let mut growth = call.new_growth();
    let mut taken = Vec::new();
    for value in array.iter() {
        call.spend_work(PLACE.saturating_add(work_of_placing(value, others)))?;
        if takes(InOrder(value)) {
            taken.push(growth.copy_value(value)?);
        }
    }
    Ok(Evaluated::Owned(Value::Array(taken)))
}

/// `SETUNION([1, 2], [2, 3])` is `[1, 2, 3]`.
fn union<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some((left, right)) = both_arrays(call) else { return UNDEFINED };
    let mut growth = call.new_growth();
    let (mut seen, mut all) = (Set::new(), Vec::new());
    for value in left.iter().chain(right.iter()) {
        call.spend_work(PLACE.saturating_add(work_of_placing(value, seen.len())))?;
        if seen.insert(InOrder(value)) {
            all.push(growth.copy_value(value)?);
        }
    }
    Ok(Evaluated::Owned(Value::Array(all)))
}

/// `SETINTERSECT`: the values in both arrays, in the order of the second.
fn intersection<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some((left, right)) = both_arrays(call) else { return UNDEFINED };
    let mut left = set_of(call, left)?;
    let others = left.len();
    keep_elements(call, right, others, |value| left.remove(&value))
}

/// `SETDIFFERENCE`: the values that are only in the first array.
fn difference<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some((left, right)) = both_arrays(call) else { return UNDEFINED };
    let mut seen = set_of(call, right)?;
    let others = seen.len().saturating_add(left.len());
    keep_elements(call, left, others, |value| seen.insert(value))
}

/// `SETEQUAL`: whether both arrays have the same distinct values.
fn set_equal<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let Some((left, right)) = both_arrays(call) else { return UNDEFINED };
    let same = set_of(call, left)? == set_of(call, right)?;
    Ok(Evaluated::Owned(Value::Bool(same)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, evaluate};

    #[test]
    fn an_element_counts_once() {
        check(&[
            ("SETUNION([1,2,3],[3,4])", "[1,2,3,4]"),
            ("SETUNION([3,1,1.0],['a',3])", "[3,1,'a']"),
            ("SETUNION([{'a':1,'b':2}],[{'b':2,'a':1}])", "[{'a':1,'b':2}]"),
            ("SETUNION([],[])", "[]"),
            ("SETUNION([1],1)", "undefined"),
            ("SETUNION([1],undefined)", "undefined"),
            ("SETINTERSECT([1,2,3,4],[3,4,5,6])", "[3,4]"),
            ("SETINTERSECT([1,2,3,4],[1,1,1,1])", "[1]"),
            ("SETINTERSECT([1,2,'A','B'],['A',1])", "['A',1]"),
            ("SETINTERSECT([1,2],[])", "[]"),
            ("SETINTERSECT('a',[])", "undefined"),
            ("SETDIFFERENCE([1,2,2,3],[3,4])", "[1,2]"),
            ("SETDIFFERENCE([],[1])", "[]"),
            ("SETDIFFERENCE([1],null)", "undefined"),
            ("SETEQUAL([1,2,3],[3,2,1,1])", "true"),
            ("SETEQUAL([1,true,'abc'],[true,1.0,'abc'])", "true"),
            ("SETEQUAL([],[1])", "false"),
            ("SETEQUAL([1],{})", "undefined"),
        ]);
    }

    #[test]
    fn large_sets_are_joined() {
        let left: Vec<String> = (0..3_000).map(|at| format!("{{'a':{at}}}")).collect();
        let right: Vec<String> = (1_500..4_500).map(|at| format!("{{'a':{at}}}")).collect();
        let (left, right) = (left.join(","), right.join(","));
        let all = evaluate(&format!("SETUNION([{left}],[{right}])")).unwrap();
        assert_eq!(all.matches("'a'").count(), 4_500);
        let both = evaluate(&format!("SETINTERSECT([{left}],[{right}])")).unwrap();
        assert_eq!(both.matches("'a'").count(), 1_500);
    }
}
