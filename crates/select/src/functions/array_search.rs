//! Searches an array for a value, or for an object that contains another one.

use document::{ArrayRef, DocRef, Value, ValueRef};
use evaluation::{Error, Evaluated};

use super::{
    ANY, Call, Function, UNDEFINED, row, row_at_a_glance,
    set::{PLACE, set_of},
};
use crate::{
    equal::is_equal,
    logic,
    order::InOrder,
    work::{weight_of, work_of_comparing, work_of_placing, work_of_touching},
};

pub(super) const FUNCTIONS: &[Function] = &[
    row_at_a_glance("ARRAY_CONTAINS", 2..=3, array_contains),
    row("ARRAY_CONTAINS_ALL", 2..=ANY, |call| contains_several(call, false)),
    row("ARRAY_CONTAINS_ANY", 2..=ANY, |call| contains_several(call, true)),
];

/// Maximum number of values that are searched for one by one, without building a set.
const FEW: usize = 3;
/// Units of work charged for one element, besides reading it. Charged element by element, because
/// many searches end early.
const ONE: usize = 48;

/// Units of work charged per byte of an array if the properties of its objects have to be sorted.
const SORTED: usize = 4;

/// `ARRAY_CONTAINS(array, value, partial)`: with `partial`, an object element matches if it has all
/// properties of `value`.
fn array_contains<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(array), Some(wanted), Some(partial)) =
        (call.array_at(0), call.argument(1), call.flag_at(2))
    else {
        return UNDEFINED;
    };
    if !partial {
        return Ok(Evaluated::Owned(Value::Bool(has_element(call, array, wanted, is_equal)?)));
    }
    // All properties of every object may have to be sorted.
    call.spend_work(weight_of(ValueRef::Array(array)).saturating_mul(SORTED))?;
    Ok(Evaluated::Owned(Value::Bool(has_element(call, array, wanted, is_within)?)))
}

/// Returns whether an array has an element for which `meets(wanted, element)` is true.
fn has_element(
    call: &Call<'_, '_>,
    array: ArrayRef<'_>,
    wanted: ValueRef<'_>,
    meets: fn(ValueRef<'_>, ValueRef<'_>) -> bool,
) -> Result<bool, Error> {
    for value in array.iter() {
        call.spend_work(ONE + work_of_touching(value) + work_of_comparing(wanted, value))?;
        if meets(wanted, value) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether two values are equal, or are objects of which the second contains all properties
/// of the first, recursively. Arrays have to be equal.
fn is_within(wanted: ValueRef<'_>, value: ValueRef<'_>) -> bool {
    match (wanted, value) {
        (ValueRef::Document(wanted), ValueRef::Document(value)) => object_within(wanted, value),
        _ => is_equal(wanted, value),
    }
}

/// Returns whether an object has all properties of `wanted`. Both are sorted by name and merged.
fn object_within(wanted: DocRef<'_>, value: DocRef<'_>) -> bool {
    // Compares the counts first, and stops at the end of the smaller object.
    let (mut few, mut many) = (wanted.iter(), value.iter());
    while few.next().is_some() {
        if many.next().is_none() {
            return false;
        }
    }
    let mut wanted: Vec<_> = wanted.iter().collect();
    let mut fields: Vec<_> = value.iter().collect();
    wanted.sort_by_key(|(name, _)| *name);
    fields.sort_by_key(|(name, _)| *name);
    let mut rest = fields.into_iter();
    wanted.into_iter().all(|(name, wanted)| {
        rest.find(|(field, _)| name <= *field)
            .is_some_and(|(field, value)| name == field && is_within(wanted, value))
    })
}

/// Returns whether an array contains one (`decides` is true) or all of several values. An undefined
/// value among them makes the result undefined unless the others decide it.
fn contains_several<'a>(call: &Call<'_, 'a>, decides: bool) -> Result<Evaluated<'a>, Error> {
    let Some(array) = call.array_at(0) else { return UNDEFINED };
    let wanted = call.args.get(1..).unwrap_or_default();
    // Building a set costs more than a few searches; for many values it keeps the work proportional
    // to the array.
    let set = if wanted.len() <= FEW { None } else { Some(set_of(call, array)?) };
    let found = wanted.iter().map(|wanted| {
        let Some(wanted) = wanted.value() else { return Ok(None) };
        Ok(Some(match &set {
            Some(set) => {
                call.spend_work(PLACE.saturating_add(work_of_placing(wanted, set.len())))?;
                set.contains(&InOrder(wanted))
            }
            None => has_element(call, array, wanted, is_equal)?,
        }))
    });
    Ok(logic::truth_value(logic::decide(found, decides)?))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, evaluate};

    #[test]
    fn values_are_found_by_value() {
        check(&[
            ("ARRAY_CONTAINS(['coats','jackets'],'coats')", "true"),
            ("ARRAY_CONTAINS(['coats','jackets'],'hoodies')", "false"),
            ("ARRAY_CONTAINS([1,2],1.0)", "true"),
            ("ARRAY_CONTAINS([1,2],'1')", "false"),
            ("ARRAY_CONTAINS([[1,2]],[1,2])", "true"),
            ("ARRAY_CONTAINS([{'a':1,'b':2}],{'b':2,'a':1})", "true"),
            ("ARRAY_CONTAINS([{'a':1,'b':2}],{'a':1})", "false"),
            ("ARRAY_CONTAINS([{'a':1,'b':2}],{'a':1},false)", "false"),
            ("ARRAY_CONTAINS([],1)", "false"),
            ("ARRAY_CONTAINS([null],null)", "true"),
            ("ARRAY_CONTAINS([1],undefined)", "undefined"),
            ("ARRAY_CONTAINS(undefined,1)", "undefined"),
            ("ARRAY_CONTAINS('abc','a')", "undefined"),
            ("ARRAY_CONTAINS([1],1,'true')", "undefined"),
            ("ARRAY_CONTAINS([1],1,undefined)", "undefined"),
        ]);
    }

    #[test]
    fn a_part_of_an_object_is_found_at_every_depth() {
        check(&[
            ("ARRAY_CONTAINS([{'a':1,'b':2}],{'a':1},true)", "true"),
            ("ARRAY_CONTAINS([{'a':1,'b':2}],{'b':2.0},true)", "true"),
            ("ARRAY_CONTAINS([{'a':1,'b':2}],{'a':2},true)", "false"),
            ("ARRAY_CONTAINS([{'a':1,'b':2}],{'a':1,'c':3},true)", "false"),
            ("ARRAY_CONTAINS([{'a':1}],{'a':1,'b':2},true)", "false"),
            ("ARRAY_CONTAINS([{'a':1}],{},true)", "true"),
            ("ARRAY_CONTAINS([1],{},true)", "false"),
            ("ARRAY_CONTAINS([1,2],2,true)", "true"),
            ("ARRAY_CONTAINS([{'a':{'b':1,'c':2},'d':3}],{'a':{'c':2}},true)", "true"),
            ("ARRAY_CONTAINS([{'a':{'b':1,'c':2},'d':3}],{'a':{'c':3}},true)", "false"),
            ("ARRAY_CONTAINS([{'a':[1,2]}],{'a':[1]},true)", "false"),
        ]);
    }

    #[test]
    fn several_values_are_found() {
        check(&[
            ("ARRAY_CONTAINS_ALL([1,true,'3',[1,2,3]],1,true,'3',[1,2,3])", "true"),
            ("ARRAY_CONTAINS_ALL([1,2,3,4],2,3,4,5)", "false"),
            ("ARRAY_CONTAINS_ALL([1,2,3,4],1,undefined)", "undefined"),
            ("ARRAY_CONTAINS_ALL([1,2,3,4],5,undefined)", "false"),
            ("ARRAY_CONTAINS_ALL([],1,2,3)", "false"),
            ("ARRAY_CONTAINS_ALL(1,1)", "undefined"),
            ("ARRAY_CONTAINS_ANY([1,true,'3',[1,2,3]],1,true,'3',[1,2,3])", "true"),
            ("ARRAY_CONTAINS_ANY([1,2,3,4],2,3,4,5)", "true"),
            ("ARRAY_CONTAINS_ANY([1,2,3,4],1,undefined)", "true"),
            ("ARRAY_CONTAINS_ANY([1,2,3,4],5,undefined)", "undefined"),
            ("ARRAY_CONTAINS_ANY([1,2,3,4],5,6,7,8)", "false"),
            ("ARRAY_CONTAINS_ANY([{'a':1,'b':2}],5,6,7,{'b':2,'a':1.0})", "true"),
            ("ARRAY_CONTAINS_ANY([],1,2,3)", "false"),
        ]);
    }

    #[test]
    fn many_values_are_found_among_many() {
        let many: Vec<String> = (0..3_000).map(|at| at.to_string()).collect();
        let many = many.join(",");
        let call = format!("ARRAY_CONTAINS_ALL([{many}],{many})");
        assert_eq!(evaluate(&call).unwrap(), "true");
    }
}
