//! Accumulators used as functions: over one array, or over several arguments.

use document::{Value, ValueRef};
use evaluation::Error;

use super::super::Answer;
use super::{
    Function, In, Param,
    Takes::{Any, Named},
    need, row,
};
use crate::{
    accumulate::{Deviation, Extreme, Mean, Sum, count_of, pick_n},
    failure::{invalid_request, type_mismatch},
};

const N: &[Param] = &[need("input"), need("n")];

pub(super) const FUNCTIONS: &[Function] = &[
    row("$avg", Any, avg, "mean of the numbers"),
    row("$max", Any, |c| extreme(c, true), "greatest value"),
    row("$min", Any, |c| extreme(c, false), "least value"),
    row("$stdDevPop", Any, |c| deviation(c, false), "deviation of a population"),
    row("$stdDevSamp", Any, |c| deviation(c, true), "deviation of a sample"),
    row("$sum", Any, sum, "sum of the numbers"),
    row("$firstN", Named(N), |c| some_of(c, "$firstN"), "first elements"),
    row("$lastN", Named(N), |c| some_of(c, "$lastN"), "last elements"),
    row("$maxN", Named(N), |c| some_of(c, "$maxN"), "greatest elements"),
    row("$minN", Named(N), |c| some_of(c, "$minN"), "least elements"),
    row("$median", Named(&[need("input"), need("method")]), median, "middle of the numbers"),
    row(
        "$percentile",
        Named(&[need("input"), need("p"), need("method")]),
        percentile,
        "percentiles of the numbers",
    ),
];

/// Every value: the elements of an only argument that is an array, else the arguments.
fn each(call: &In<'_>, mut take: impl FnMut(ValueRef<'_>)) {
    match call.args {
        [only] => match only.value() {
            Some(ValueRef::Array(values)) => values.iter().for_each(take),
            Some(value) => take(value),
            None => {}
        },
        all => all.iter().filter_map(|arg| arg.value()).for_each(take),
    }
}

fn sum(call: &In<'_>) -> Answer {
    let mut sum = Sum::default();
    each(call, |value| sum.add(value));
    Ok(Some(sum.value()))
}

fn avg(call: &In<'_>) -> Answer {
    let mut mean = Mean::default();
    each(call, |value| mean.add(value));
    Ok(Some(mean.value()))
}

fn extreme(call: &In<'_>, greatest: bool) -> Answer {
    let mut extreme = Extreme::new(greatest);
    each(call, |value| {
        extreme.add(value);
    });
    Ok(Some(extreme.value()))
}

fn deviation(call: &In<'_>, sample: bool) -> Answer {
    let mut deviation = Deviation::new(sample);
    each(call, |value| deviation.add(value));
    Ok(Some(deviation.value()))
}

fn some_of(call: &In<'_>, name: &str) -> Answer {
    let Some(ValueRef::Array(values)) = call.arg(0).value() else {
        return Err(type_mismatch(5_788_200, "Input must be an array"));
    };
    let count = count_of(call.arg(1).or_null())?;
    Ok(Some(Value::Array(pick_n(name, values, count))))
}

fn numbers(call: &In<'_>) -> Vec<f64> {
    let mut found = Vec::new();
    let mut take = |value: ValueRef<'_>| {
        if let Some(number) = document::Number::of(value).filter(|number| !number.is_nan()) {
            found.push(number.to_f64());
        }
    };
    match call.value(0) {
        ValueRef::Array(values) => values.iter().for_each(&mut take),
        value => take(value),
    }
    found.sort_by(f64::total_cmp);
    found
}

fn median(call: &In<'_>) -> Answer {
    check_method(call.value(1))?;
    Ok(Some(crate::accumulate::percentile_of(&numbers(call), 0.5)))
}

fn percentile(call: &In<'_>) -> Answer {
    check_method(call.value(2))?;
    let wanted = crate::accumulate::percentages(call.value(1))?;
    let sorted = numbers(call);
    Ok(Some(Value::Array(
        wanted.into_iter().map(|p| crate::accumulate::percentile_of(&sorted, p)).collect(),
    )))
}

fn check_method(method: ValueRef<'_>) -> Result<(), Error> {
    if method.as_str() == Some("approximate") {
        return Ok(());
    }
    Err(invalid_request(2, "Currently only 'approximate' can be used as percentile 'method'."))
}
