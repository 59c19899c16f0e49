//! Arrays made from other values: concatenation, ranges, zipping, and objects as pairs.

use document::{ArrayRef, Document, MAX_DOCUMENT_BYTES, Number, Value, ValueRef};
use evaluation::{Error, Kind, Size};

use super::{
    super::OptionalValue,
    Arity::{Any, Between, Exactly, Named},
    Call, Function,
    arithmetic::NULL,
    fields::Fields,
    number::int32_of,
    optional, required, row,
};
use crate::{invalid_request, shown, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row("$arrayToObject", Exactly(1), to_object, "object of an array's names and values"),
    row("$concatArrays", Any, concat, "concatenation of the arrays"),
    row("$objectToArray", Exactly(1), from_object, "array of an object's names and values"),
    row("$range", Between(2, 3), range, "integers of a range, in steps"),
    row(
        "$zip",
        Named(&[required("inputs"), optional("useLongestLength"), optional("defaults")]),
        zip,
        "arrays of the elements at the same position in each array",
    ),
];

/// `$concatArrays: [[1], [2]]` is `[1, 2]`; null if an argument is null. Each element is counted
/// before it is copied.
fn concat(call: &Call<'_>) -> OptionalValue {
    let mut joined = Vec::new();
    let mut growth = call.new_growth();
    for arg in call.args {
        match arg.operand() {
            value if value.is_nullish() => return NULL,
            ValueRef::Array(values) => {
                for value in values.iter() {
                    let value = growth.copy_value(value)?;
                    growth.push_value(&mut joined, value)?;
                }
            }
            value => {
                let kind = value.kind().name();
                let text = format!("$concatArrays only supports arrays, not {kind}");
                return Err(type_mismatch(28664, text));
            }
        }
    }
    Ok(Some(Value::Array(joined)))
}

/// `$objectToArray: {a: 1}` is `[{k: "a", v: 1}]`, for the top level only. Null for null and
/// missing.
fn from_object(call: &Call<'_>) -> OptionalValue {
    match call.value_at(0) {
        value if value.is_nullish() => NULL,
        ValueRef::Document(fields) => {
            let mut growth = call.new_growth();
            let pair = |(name, value): (&str, ValueRef<'_>)| {
                let mut pair = Document::new();
                // The names `k` and `v` are stored in every pair.
                growth.add_name("k")?;
                growth.add_name("v")?;
                pair.push("k", growth.copy_value(ValueRef::String(name))?);
                pair.push("v", growth.copy_value(value)?);
                Ok(Value::Document(pair))
            };
            Ok(Some(Value::Array(fields.iter().map(pair).collect::<Result<_, Error>>()?)))
        }
        value => Err(type_mismatch(
            40390,
            format!("$objectToArray requires a document input, found: {}", value.kind().name()),
        )),
    }
}

/// `$arrayToObject: [["a", 1]]` or `[{k: "a", v: 1}]` is `{a: 1}`. A repeated name keeps its first
/// position and gets the last value. Null for null and missing.
fn to_object(call: &Call<'_>) -> OptionalValue {
    let values = match call.value_at(0) {
        value if value.is_nullish() => return NULL,
        ValueRef::Array(values) => values,
        value => {
            let kind = value.kind().name();
            let text = format!("$arrayToObject requires an array input, found: {kind}");
            return Err(type_mismatch(40386, text));
        }
    };
    let mut built = Fields::new(call);
    let mut are_arrays = None;
    for element in values.iter() {
        let (name, value) = pair(element, &mut are_arrays)?;
        if name.contains('\0') {
            return Err(invalid_request(
                4_940_400,
                "Key field cannot contain an embedded null byte",
            ));
        }
        built.insert_field(name, value)?;
    }
    Ok(Some(built.into_document()))
}

/// Returns name and value of a pair. All pairs must have the same form; `are_arrays` is set to the
/// form of the first pair.
fn pair<'a>(
    element: ValueRef<'a>,
    are_arrays: &mut Option<bool>,
) -> Result<(&'a str, ValueRef<'a>), Error> {
    let mixed = |code: i32, was: &str| {
        let kind = element.kind().name();
        let text = "$arrayToObject requires a consistent input format. Elements must";
        let rest =
            format!("all be arrays or all be objects. {was} was detected, now found: {kind}");
        invalid_request(code, format!("{text}{rest}"))
    };
    match (element, *are_arrays) {
        (ValueRef::Array(values), None | Some(true)) => {
            *are_arrays = Some(true);
            array_pair(values)
        }
        (ValueRef::Document(fields), None | Some(false)) => {
            *are_arrays = Some(false);
            object_pair(fields)
        }
        (_, Some(true)) => Err(mixed(40396, "Array")),
        (_, Some(false)) => Err(mixed(40391, "Object")),
        (other, None) => {
            let kind = other.kind().name();
            let text = format!("Unrecognised input type format for $arrayToObject: {kind}");
            Err(type_mismatch(40398, text))
        }
    }
}

/// Returns name and value of `[name, value]`: exactly two elements, the first a string.
fn array_pair(values: ArrayRef<'_>) -> Result<(&str, ValueRef<'_>), Error> {
    let count = values.len();
    let (Some(name), Some(value), 2) = (values.get(0), values.get(1), count) else {
        let text = "$arrayToObject requires an array of size 2 arrays,found array of size:";
        return Err(invalid_request(40397, format!("{text} {count}")));
    };
    let ValueRef::String(name) = name else {
        let kind = name.kind().name();
        let text = "$arrayToObject requires an array of key-value pairs, where the key must be of type string.";
        return Err(type_mismatch(40395, format!("{text} Found key type: {kind}")));
    };
    Ok((name, value))
}

/// Returns name and value of `{k: name, v: value}`, which must have no other fields.
fn object_pair(fields: document::DocRef<'_>) -> Result<(&str, ValueRef<'_>), Error> {
    let count = fields.len();
    if count != 2 {
        let text = "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:";
        return Err(invalid_request(40392, format!("{text}{count}")));
    }
    let (Some(name), Some(value)) = (fields.get("k"), fields.get("v")) else {
        let text = "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from:";
        return Err(invalid_request(
            40393,
            format!("{text} {}", shown(ValueRef::Document(fields))),
        ));
    };
    let ValueRef::String(name) = name else {
        let kind = name.kind().name();
        let text = "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string.";
        return Err(type_mismatch(40394, format!("{text} Found type: {kind}")));
    };
    Ok((name, value))
}

/// Returns a 32-bit argument of `$range`. `codes` are the error numbers for a value that is not a
/// number, and for one that does not fit. `what` has the parts that differ in MongoDB's texts: the
/// article, the name, and the text after the colon.
fn range_part(
    call: &Call<'_>,
    index: usize,
    codes: (i32, i32),
    what: (&str, &str, &str),
) -> Result<i64, Error> {
    let arg = call.arg_at(index);
    let (article, name, colon) = what;
    if Number::of(arg.operand()).is_none() {
        let kind = arg.type_name();
        let text =
            format!("$range requires a numeric {name} value, found value of type:{colon}{kind}");
        return Err(type_mismatch(codes.0, text));
    }
    int32_of(arg.operand()).map(i64::from).ok_or_else(|| {
        let value = shown(arg.or_null());
        let text = "value that can be represented as a 32-bit integer, found value:";
        invalid_request(codes.1, format!("$range requires {article} {name} {text} {value}"))
    })
}

/// `$range: [0, 5, 2]` is `[0, 2, 4]`, and `$range: [5, 0, -2]` is `[5, 3, 1]`: the end is
/// exclusive. The number of elements is checked before they are built. The step defaults to 1; 0 is
/// an error.
fn range(call: &Call<'_>) -> OptionalValue {
    let start = range_part(call, 0, (34443, 34444), ("a", "starting", " "))?;
    let end = range_part(call, 1, (34445, 34446), ("an", "ending", " "))?;
    let step = if call.arg_at(2).is_absent() {
        1
    } else {
        range_part(call, 2, (34447, 34448), ("a", "step", ""))?
    };
    if step == 0 {
        return Err(invalid_request(34449, "$range requires a non-zero step value"));
    }
    let distance = if step > 0 { end - start } else { start - end };
    // Rounded up, since the last step may pass the end.
    let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    // An element takes at least about eight bytes in a document.
    if MAX_DOCUMENT_BYTES / 8 < count {
        return Err(Error::new(
            Kind::TooLarge,
            146,
            format!("$range would use too much memory for {count} values"),
        ));
    }
    // Counted at once, since all elements have the same size.
    let size = Size::of_value(ValueRef::Int32(0));
    call.new_growth().add_size(Size { bytes: size.bytes * count, memory: size.memory * count })?;
    let mut values = Vec::with_capacity(count);
    let mut next = start;
    for _ in 0..count {
        values.push(Value::Int32(i32::try_from(next).unwrap_or(i32::MAX)));
        next += step;
    }
    Ok(Some(Value::Array(values)))
}

/// `$zip: {inputs: [[1, 2], ["a"]]}` is `[[1, "a"]]`. With `useLongestLength`, missing elements are
/// null or a default: `[[1, "a"], [2, null]]`. `defaults` has one value per input. Null if an input
/// is null.
fn zip(call: &Call<'_>) -> OptionalValue {
    let ValueRef::Array(inputs) = call.value_at(0) else { return NULL };
    let mut arrays = Vec::with_capacity(inputs.len());
    for input in inputs.iter() {
        match input {
            value if value.is_nullish() => return NULL,
            ValueRef::Array(values) => arrays.push(values),
            value => {
                let value = shown(value);
                let text = format!("$zip found a non-array expression in input: {value}");
                return Err(type_mismatch(34468, text));
            }
        }
    }
    let lengths = arrays.iter().map(|values| values.len());
    let longest = call.arg_at(1).is_truthy();
    let count = if longest { lengths.max() } else { lengths.min() }.unwrap_or(0);
    let mut growth = call.new_growth();
    let row = Size::of_value(ValueRef::Array(ArrayRef::Tree(&[])));
    let row = Size { bytes: row.bytes, memory: row.memory + arrays.len() * size_of::<Value>() };
    // Counted before they are built: a few long inputs make many rows.
    growth.add_size(Size {
        bytes: row.bytes.saturating_mul(count),
        memory: row.memory.saturating_mul(count),
    })?;
    let defaults = call.value_at(2).as_array();
    let mut rows = vec![Vec::with_capacity(arrays.len()); count];
    // Column by column: each input adds one element to every row.
    for (column, values) in arrays.iter().enumerate() {
        let default = defaults.and_then(|defaults| defaults.get(column)).unwrap_or(ValueRef::Null);
        let padded = values.iter().chain(std::iter::repeat(default));
        for (row, value) in rows.iter_mut().zip(padded) {
            let size = Size::of_value(value);
            // The slot of the value in its row is counted already.
            let memory = size.memory.saturating_sub(size_of::<Value>());
            growth.add_size(Size { memory, ..size })?;
            row.push(value.to_value());
        }
    }
    Ok(Some(Value::Array(rows.into_iter().map(Value::Array).collect())))
}
