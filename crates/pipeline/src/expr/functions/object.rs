//! Functions of objects: reading, setting and merging fields.

use document::{Value, ValueRef};
use evaluation::Size;

use super::{
    super::OptionalValue,
    Arity::{Any, Named},
    Call, Function,
    arithmetic::NULL,
    fields::Fields,
    required, row,
};
use crate::{shown, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row(
        "$getField",
        Named(&[required("field"), required("input")]),
        get_field,
        "field of any name",
    ),
    row(
        "$mergeObjects",
        Any,
        merge_objects,
        "fields of all objects; later objects take precedence",
    ),
    row(
        "$setField",
        Named(&[required("field"), required("input"), required("value")]),
        set_field,
        "object with a field set to a value",
    ),
    row(
        "$unsetField",
        Named(&[required("field"), required("input")]),
        unset_field,
        "object without a field",
    ),
];

/// `$getField`: the field with this name, which may contain dots and dollars. Missing if the input
/// is not an object or lacks the field; null for null.
fn get_field(call: &Call<'_>) -> OptionalValue {
    let ValueRef::String(name) = call.value_at(0) else {
        let kind = call.arg_at(0).type_name();
        let text = format!("$getField requires 'field' to evaluate to type String, but got {kind}");
        return Err(type_mismatch(3_041_704, text));
    };
    match call.arg_at(1).value() {
        Some(ValueRef::Document(fields)) => Ok(fields.get(name).map(ValueRef::to_value)),
        Some(value) if value.is_nullish() => NULL,
        _ => Ok(None),
    }
}

/// `$mergeObjects: [{a: 1}, {a: 2, b: 3}]` is `{a: 2, b: 3}`. Null counts as an empty object; a
/// single argument may be an array of objects.
fn merge_objects(call: &Call<'_>) -> OptionalValue {
    let mut merged = Fields::new(call);
    let mut join = |value: ValueRef<'_>| match value {
        value if value.is_nullish() => Ok(()),
        ValueRef::Document(fields) => {
            fields.iter().try_for_each(|(name, value)| merged.insert_field(name, value))
        }
        value => {
            let (kind, value) = (value.kind().name(), shown(value));
            let text = format!("but input {value} is of type {kind}");
            Err(type_mismatch(40400, format!("$mergeObjects requires object inputs, {text}")))
        }
    };
    match call.args {
        [only] => match only.operand() {
            ValueRef::Array(values) => values.iter().try_for_each(join)?,
            value => join(value)?,
        },
        all => all.iter().try_for_each(|arg| join(arg.operand()))?,
    }
    Ok(Some(merged.into_document()))
}

/// Returns the object with a field set, or removed for no value. An existing field keeps its
/// position. Null for an input that is null or missing.
fn change_field(call: &Call<'_>, value: Option<ValueRef<'_>>) -> OptionalValue {
    let ValueRef::String(name) = call.value_at(0) else {
        let (function, kind) = (call.name, call.arg_at(0).type_name());
        let text = "requires 'field' to evaluate to type String, but got";
        return Err(type_mismatch(4_161_107, format!("{function} {text} {kind}")));
    };
    let fields = match call.value_at(1) {
        value if value.is_nullish() => return NULL,
        ValueRef::Document(fields) => fields,
        _ => {
            let text = format!("{} requires 'input' to evaluate to type Object", call.name);
            return Err(type_mismatch(4_161_105, text));
        }
    };
    let mut growth = call.new_growth();
    // The whole object is copied.
    growth.add_size(Size::of_value(ValueRef::Document(fields)))?;
    let mut changed = fields.to_tree();
    match value {
        Some(value) => changed.insert(name, growth.copy_value(value)?),
        None => drop(changed.remove(name)),
    }
    Ok(Some(Value::Document(changed)))
}

/// `$setField`: the object with a field set; the value `$$REMOVE` removes it.
fn set_field(call: &Call<'_>) -> OptionalValue {
    change_field(call, call.arg_at(2).value())
}

fn unset_field(call: &Call<'_>) -> OptionalValue {
    change_field(call, None)
}
