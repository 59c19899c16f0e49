//! Functions of arrays: length, slices, concatenation, and aggregates of their elements.

use document::{ArrayRef, Value, ValueRef};
use evaluation::{Error, Evaluated};

use super::{ANY, Call, Function, UNDEFINED, row, types::is_primitive};
use crate::{
    number::{integer_value, number_or_nothing, to_f64},
    order::compare_values,
};

pub(super) const FUNCTIONS: &[Function] = &[
    row("ARRAY_AVG", 1..=1, |call| reduce_numbers(call, average)),
    row("ARRAY_CONCAT", 2..=ANY, array_concat),
    row("ARRAY_LENGTH", 1..=1, array_length),
    row("ARRAY_MAX", 1..=1, |call| {
        extreme(call, |best, value| compare_values(best, value).is_lt())
    }),
    row("ARRAY_MEDIAN", 1..=1, |call| reduce_numbers(call, median)),
    row("ARRAY_MIN", 1..=1, |call| {
        extreme(call, |best, value| compare_values(best, value).is_gt())
    }),
    row("ARRAY_SLICE", 2..=3, array_slice),
    row("ARRAY_SUM", 1..=1, |call| reduce_numbers(call, |values| Some(values.iter().sum()))),
];

/// Units of work charged for each number that an aggregate of an array reads.
const ONE: usize = 32;

fn length_of(array: ArrayRef<'_>) -> i64 {
    i64::try_from(array.len()).unwrap_or(i64::MAX)
}

fn array_length<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    Ok(call.array_at(0).map_or(Evaluated::Missing, |array| integer_value(length_of(array))))
}

/// `ARRAY_CONCAT([1], [2, 3])` is `[1, 2, 3]`.
fn array_concat<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let mut growth = call.new_growth();
    let mut all = Vec::new();
    for at in 0..call.args.len() {
        let Some(array) = call.array_at(at) else { return UNDEFINED };
        for value in array.iter() {
            let value = growth.copy_value(value)?;
            growth.push_value(&mut all, value)?;
        }
    }
    Ok(Evaluated::Owned(Value::Array(all)))
}

/// `ARRAY_SLICE([1, 2, 3], -2, 1)` is `[2]`: the elements from a position, which counts from the
/// end if negative, limited to a number of elements.
fn array_slice<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let (Some(array), Some(start), Some(most)) =
        (call.array_at(0), call.integer_at(1), call.integer_or(2, i64::MAX))
    else {
        return UNDEFINED;
    };
    let start = if start < 0 { start.saturating_add(length_of(array)) } else { start };
    let start = usize::try_from(start.max(0)).unwrap_or(usize::MAX);
    let most = usize::try_from(most.max(0)).unwrap_or(usize::MAX);
    let values = call.new_growth().copy_values(array.iter().skip(start).take(most))?;
    Ok(Evaluated::Owned(Value::Array(values)))
}

/// Applies an aggregate function to the numbers of an array. An element that is not a number makes
/// the result undefined.
fn reduce_numbers<'a>(
    call: &Call<'_, 'a>,
    function: fn(&mut [f64]) -> Option<f64>,
) -> Result<Evaluated<'a>, Error> {
    let Some(array) = call.array_at(0) else { return UNDEFINED };
    call.spend_work(array.len().saturating_mul(ONE))?;
    let Some(mut values) = array.iter().map(to_f64).collect::<Option<Vec<f64>>>() else {
        return UNDEFINED;
    };
    Ok(function(&mut values).map_or(Evaluated::Missing, number_or_nothing))
}

/// Returns the mean; `None` for an empty array.
fn average(values: &mut [f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the median: the middle number, or the mean of the two middle ones.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    values.get(middle.checked_sub(1)?).map(|lower| (lower + upper) / 2.0)
}

/// Returns the greatest or the least element; `better(a, b)` returns whether `b` is preferred to
/// `a`. An array or object among the elements makes the result undefined; null, booleans, numbers
/// and strings are compared in the total order of values.
fn extreme<'a>(
    call: &Call<'_, 'a>,
    better: fn(ValueRef<'_>, ValueRef<'_>) -> bool,
) -> Result<Evaluated<'a>, Error> {
    let Some(array) = call.array_at(0) else { return UNDEFINED };
    let mut best = None;
    for value in array.iter() {
        if !is_primitive(value) {
            return UNDEFINED;
        }
        if best.is_none_or(|best| better(best, value)) {
            best = Some(value);
        }
    }
    Ok(Evaluated::from(best.map(ValueRef::to_value)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn arrays_are_joined_and_cut() {
        check(&[
            ("ARRAY_LENGTH([1,[2,3],'a'])", "3"),
            ("ARRAY_LENGTH([])", "0"),
            ("ARRAY_LENGTH('abc')", "undefined"),
            ("ARRAY_LENGTH(undefined)", "undefined"),
            ("ARRAY_CONCAT([1],['a',[2]],[])", "[1,'a',[2]]"),
            ("ARRAY_CONCAT([1],2)", "undefined"),
            ("ARRAY_CONCAT([1],undefined)", "undefined"),
            ("ARRAY_SLICE([1,2,3,4],1)", "[2,3,4]"),
            ("ARRAY_SLICE([1,2,3,4],0)", "[1,2,3,4]"),
            ("ARRAY_SLICE([1,2,3,4],-1)", "[4]"),
            ("ARRAY_SLICE([1,2,3,4],-9)", "[1,2,3,4]"),
            ("ARRAY_SLICE([1,2,3,4],-9223372036854775808,1)", "[1]"),
            ("ARRAY_SLICE([1,2,3,4],-2,1)", "[3]"),
            ("ARRAY_SLICE([1,2,3,4],1,12)", "[2,3,4]"),
            ("ARRAY_SLICE([1,2,3,4],4)", "[]"),
            ("ARRAY_SLICE([1,2,3,4],1,0)", "[]"),
            ("ARRAY_SLICE([1,2,3,4],1,-1)", "[]"),
            ("ARRAY_SLICE([1,2,3,4],0.5)", "undefined"),
            ("ARRAY_SLICE([1,2,3,4],1,undefined)", "undefined"),
            ("ARRAY_SLICE('abc',1)", "undefined"),
        ]);
    }

    #[test]
    fn elements_come_to_a_number() {
        check(&[
            ("ARRAY_AVG([1,2,3,4])", "2.5"),
            ("ARRAY_AVG([1,-2.7,3,-4])", "-0.675"),
            ("ARRAY_AVG([])", "undefined"),
            ("ARRAY_AVG([12,'abc',null])", "undefined"),
            ("ARRAY_SUM([1,2.5])", "3.5"),
            ("ARRAY_SUM([])", "0"),
            ("ARRAY_SUM([1,true])", "undefined"),
            ("ARRAY_SUM([1e308,1e308])", "undefined"),
            ("ARRAY_MEDIAN([4,1,3,2])", "2.5"),
            ("ARRAY_MEDIAN([7.8,1.0,2.0,3.3,4.7])", "3.3"),
            ("ARRAY_MEDIAN([1,-2.7,3,-4])", "-0.8500000000000001"),
            ("ARRAY_MEDIAN([])", "undefined"),
            ("ARRAY_MEDIAN(['a'])", "undefined"),
            ("ARRAY_MEDIAN(1)", "undefined"),
        ]);
    }

    #[test]
    fn the_largest_is_found_among_types() {
        check(&[
            ("ARRAY_MAX([1,4,2])", "4"),
            ("ARRAY_MAX(['abc','ABC','aBc'])", "'abc'"),
            ("ARRAY_MAX([false,true])", "true"),
            ("ARRAY_MAX([null,null])", "null"),
            ("ARRAY_MAX([12,'abc',true,null])", "'abc'"),
            ("ARRAY_MAX([])", "undefined"),
            ("ARRAY_MAX([1,[2]])", "undefined"),
            ("ARRAY_MAX([1,{}])", "undefined"),
            ("ARRAY_MIN([3,1,2])", "1"),
            ("ARRAY_MIN([12,'abc',true,false,null])", "null"),
            ("ARRAY_MIN(['b','a'])", "'a'"),
            ("ARRAY_MIN({})", "undefined"),
        ]);
    }
}
