//! Functions that select an argument, convert an object to an array, or return the number of an
//! item.

use document::{Document, Value, ValueRef};
use evaluation::{Error, Evaluated, Size};

use super::{ANY, Call, Function, UNDEFINED, row, row_at_a_glance};
use crate::number::integer_value;

pub(super) const FUNCTIONS: &[Function] = &[
    row_at_a_glance("CHOOSE", 2..=ANY, choose),
    row_at_a_glance("DOCUMENTID", 1..=1, document_id),
    row_at_a_glance("IIF", 3..=3, iif),
    row("OBJECTTOARRAY", 1..=3, object_to_array),
];

fn argument_as_is<'a>(call: &Call<'_, 'a>, at: usize) -> Evaluated<'a> {
    call.args.get(at).cloned().unwrap_or(Evaluated::Missing)
}

/// `CHOOSE(2, "a", "b")` is `"b"`: the argument at a one-based position.
fn choose<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let at = call.integer_at(0).filter(|at| 0 < *at).and_then(|at| usize::try_from(at).ok());
    Ok(at.map_or(Evaluated::Missing, |at| argument_as_is(call, at)))
}

/// `IIF(condition, yes, no)`: a condition that is not `true` selects `no`.
fn iif<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let is_true = matches!(call.argument(0), Some(ValueRef::Bool(true)));
    Ok(argument_as_is(call, if is_true { 1 } else { 2 }))
}

/// `OBJECTTOARRAY({"a": 1})` is `[{"k": "a", "v": 1}]`. Two optional arguments rename `k` and `v`.
/// A name with a NUL cannot be stored and makes the result undefined.
fn object_to_array<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let name = |at: usize, default: &'static str| {
        if call.is_given(at) { call.text_at(at) } else { Some(default) }
    };
    let (Some(object), Some(key), Some(value)) = (call.object_at(0), name(1, "k"), name(2, "v"))
    else {
        return UNDEFINED;
    };
    if key == value || key.contains('\0') || value.contains('\0') {
        return UNDEFINED;
    }
    let mut growth = call.new_growth();
    let mut pairs = Vec::new();
    for (field, held) in object.iter() {
        growth.add_name(key)?;
        growth.add_name(value)?;
        growth.add_size(Size::of_text(field.len()))?;
        let mut pair = Document::new();
        pair.push(key, field);
        pair.push(value, growth.copy_value(held)?);
        pairs.push(Value::Document(pair));
    }
    Ok(Evaluated::Owned(Value::Array(pairs)))
}

/// Offset of an item's number in the item's decoded resource id.
const NUMBER_AT: usize = 8;

/// Returns the number of an item: the last eight bytes of its resource id, in little-endian order.
/// Undefined for a value that is not a complete item.
fn document_id<'a>(call: &Call<'_, 'a>) -> Result<Evaluated<'a>, Error> {
    let id = call.object_at(0).and_then(|item| item.get("_rid")).and_then(ValueRef::as_str);
    let bytes = id.and_then(resource_id);
    let number = bytes.as_deref().and_then(|bytes| bytes.get(NUMBER_AT..)?.try_into().ok());
    let number = number.and_then(|bytes| i64::try_from(u64::from_le_bytes(bytes)).ok());
    Ok(number.map_or(Evaluated::Missing, integer_value))
}

/// Decodes a resource id of sixteen bytes, in base 64 with `-` in place of `/`. Decoded here,
/// because evaluation needs base 64 nowhere else.
fn resource_id(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_suffix("==").filter(|digits| digits.len() == 22)?;
    let mut bytes = Vec::with_capacity(16);
    let (mut held, mut bits) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'-' | b'/' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if 8 <= bits {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn arguments_are_chosen() {
        check(&[
            ("CHOOSE(1,'a','b')", "'a'"),
            ("CHOOSE(2,'a',{'b':[1]})", "{'b':[1]}"),
            ("CHOOSE(0,'a','b')", "undefined"),
            ("CHOOSE(3,'a','b')", "undefined"),
            ("CHOOSE(-1,'a','b')", "undefined"),
            ("CHOOSE(1.5,'a','b')", "undefined"),
            ("CHOOSE(2,'a',undefined)", "undefined"),
            ("CHOOSE('1','a','b')", "undefined"),
            ("IIF(true,123,456)", "123"),
            ("IIF(false,123,456)", "456"),
            ("IIF(123,123,456)", "456"),
            ("IIF(undefined,123,[456])", "[456]"),
            ("IIF(true,undefined,456)", "undefined"),
        ]);
    }

    #[test]
    fn objects_become_pairs() {
        check(&[
            ("OBJECTTOARRAY({'a':'1','b':[2]})", "[{'k':'a','v':'1'},{'k':'b','v':[2]}]"),
            ("OBJECTTOARRAY({'a':1},'name','value')", "[{'name':'a','value':1}]"),
            ("OBJECTTOARRAY({'a':1},'name')", "[{'name':'a','v':1}]"),
            ("OBJECTTOARRAY({})", "[]"),
            ("OBJECTTOARRAY({'a':1},'x','x')", "undefined"),
            ("OBJECTTOARRAY({'a':1},'x\\u0000','y')", "undefined"),
            ("OBJECTTOARRAY({'a':1},1)", "undefined"),
            ("OBJECTTOARRAY([1])", "undefined"),
        ]);
    }

    #[test]
    fn an_item_has_the_number_of_its_resource_id() {
        check(&[
            ("DOCUMENTID({'_rid':'36ZyAPW+uN8NAAAAAAAAAA=='})", "13"),
            ("DOCUMENTID({'_rid':'-----------------------'})", "undefined"),
            ("DOCUMENTID({'_rid':'36ZyAA=='})", "undefined"),
            ("DOCUMENTID({'_rid':'36ZyAPW!uN8NAAAAAAAAAA=='})", "undefined"),
            ("DOCUMENTID({'_rid':7})", "undefined"),
            ("DOCUMENTID({})", "undefined"),
            ("DOCUMENTID('36ZyAPW+uN8NAAAAAAAAAA==')", "undefined"),
        ]);
    }
}
