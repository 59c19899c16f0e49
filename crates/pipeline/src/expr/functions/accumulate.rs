//! Accumulators as functions: over one array, or over several arguments.
//!
//! ```text
//! $avg: [1, 2]                               1.5        $max: [[3, 1]]          3
//! $sum: [1, "x", 2]                          3          $stdDevPop: [1, 3]      1
//! $firstN: {input: [1, 2, 3], n: 2}          [1, 2]     $median: ...            the middle number
//! ```

use document::{Value, ValueRef};
use evaluation::Error;

use super::{
    super::OptionalValue,
    Arity::{Any, Named},
    Call, Function, Param, required, row,
};
use crate::{
    accumulate::{Extreme, Mean, StandardDeviation, Sum, parse_count, pick_n},
    invalid_request, type_mismatch,
};

/// The arguments of `$firstN`, `$lastN`, `$maxN` and `$minN`.
const N: &[Param] = &[required("input"), required("n")];

pub(super) const FUNCTIONS: &[Function] = &[
    row("$avg", Any, avg, "mean of the numbers"),
    row("$max", Any, |c| extreme_of(c, true), "greatest value"),
    row("$min", Any, |c| extreme_of(c, false), "least value"),
    row("$stdDevPop", Any, |c| deviation_of(c, false), "standard deviation of a population"),
    row("$stdDevSamp", Any, |c| deviation_of(c, true), "standard deviation of a sample"),
    row("$sum", Any, sum, "sum of the numbers"),
    row("$firstN", Named(N), |c| some_of(c, "$firstN"), "first elements"),
    row("$lastN", Named(N), |c| some_of(c, "$lastN"), "last elements"),
    row("$maxN", Named(N), |c| some_of(c, "$maxN"), "greatest elements"),
    row("$minN", Named(N), |c| some_of(c, "$minN"), "least elements"),
    row(
        "$median",
        Named(&[required("input"), required("method")]),
        median,
        "median of the numbers",
    ),
    row(
        "$percentile",
        Named(&[required("input"), required("p"), required("method")]),
        percentile,
        "percentiles of the numbers",
    ),
];

/// Calls `take` with every value: the elements of a single array argument, else the arguments.
/// Arrays among several arguments count as values.
fn each_value(call: &Call<'_>, mut take: impl FnMut(ValueRef<'_>)) {
    match call.args {
        [only] => match only.value() {
            Some(ValueRef::Array(values)) => values.iter().for_each(take),
            Some(value) => take(value),
            None => {}
        },
        all => all.iter().filter_map(|arg| arg.value()).for_each(take),
    }
}

/// `$sum`: the sum of the values that are numbers; 0 if there are none.
fn sum(call: &Call<'_>) -> OptionalValue {
    let mut sum = Sum::default();
    each_value(call, |value| sum.add_number(value));
    Ok(Some(sum.sum_value()))
}

/// `$avg`: the mean of the numbers, or null if there are none.
fn avg(call: &Call<'_>) -> OptionalValue {
    let mut mean = Mean::default();
    each_value(call, |value| mean.add_number(value));
    Ok(Some(mean.mean_value()))
}

/// `$max` or `$min`: ignores null and missing; null without other values.
fn extreme_of(call: &Call<'_>, greatest: bool) -> OptionalValue {
    let mut extreme = Extreme::new(greatest);
    each_value(call, |value| {
        extreme.add_value(value, call.env.context);
    });
    Ok(Some(extreme.into_extreme()))
}

/// `$stdDevPop` or `$stdDevSamp`; null if there are too few numbers.
fn deviation_of(call: &Call<'_>, sample: bool) -> OptionalValue {
    let mut deviation = StandardDeviation::new(sample);
    each_value(call, |value| deviation.add_number(value));
    Ok(Some(deviation.into_deviation()))
}

/// `$firstN`, `$lastN`, `$maxN` or `$minN` over an array. Null and missing inputs are errors, too.
fn some_of(call: &Call<'_>, name: &str) -> OptionalValue {
    let Some(ValueRef::Array(values)) = call.arg_at(0).value() else {
        return Err(type_mismatch(5_788_200, "Input must be an array"));
    };
    let count = parse_count(call.arg_at(1).or_null())?;
    Ok(Some(Value::Array(pick_n(name, values, count, call.env.context))))
}

/// Returns the numbers of an argument in ascending order, without NaN. A value that is not an array
/// counts as an array of one.
fn sorted_numbers(call: &Call<'_>) -> Vec<f64> {
    let mut found = Vec::new();
    let mut take = |value: ValueRef<'_>| {
        if let Some(number) = document::Number::of(value).filter(|number| !number.is_nan()) {
            found.push(number.to_f64());
        }
    };
    match call.value_at(0) {
        ValueRef::Array(values) => values.iter().for_each(&mut take),
        value => take(value),
    }
    found.sort_by(f64::total_cmp);
    found
}

fn median(call: &Call<'_>) -> OptionalValue {
    check_method(call.value_at(1))?;
    Ok(Some(crate::accumulate::percentile_of(&sorted_numbers(call), 0.5)))
}

/// `$percentile`: a number for each percentage of `p`, or null if there are no numbers.
fn percentile(call: &Call<'_>) -> OptionalValue {
    // The error of a wrong method takes precedence.
    check_method(call.value_at(2))?;
    let wanted = crate::accumulate::parse_percentages(call.value_at(1))?;
    let sorted = sorted_numbers(call);
    Ok(Some(Value::Array(
        wanted.into_iter().map(|p| crate::accumulate::percentile_of(&sorted, p)).collect(),
    )))
}

/// Fails for any method but `approximate`, the only defined one. Results are exact nevertheless.
fn check_method(method: ValueRef<'_>) -> Result<(), Error> {
    if method.as_str() == Some("approximate") {
        return Ok(());
    }
    Err(invalid_request(2, "Currently only 'approximate' can be used as percentile 'method'."))
}
