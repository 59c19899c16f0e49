//! Objects: fields read, set and merged.

use document::{Value, ValueRef};
use evaluation::Size;

use super::super::Answer;
use super::arithmetic::NULL;
use super::{
    Function, In,
    Takes::{Any, Named},
    fields::Fields,
    need, row,
};
use crate::{failure::type_mismatch, shown::shown};

pub(super) const FUNCTIONS: &[Function] = &[
    row("$getField", Named(&[need("field"), need("input")]), get, "field of any name"),
    row("$mergeObjects", Any, merge, "fields of several objects, later ones winning"),
    row(
        "$setField",
        Named(&[need("field"), need("input"), need("value")]),
        set,
        "object with a field set",
    ),
    row("$unsetField", Named(&[need("field"), need("input")]), unset, "object without a field"),
];

fn get(call: &In<'_>) -> Answer {
    let ValueRef::String(name) = call.value(0) else {
        let kind = call.arg(0).type_name();
        let text = format!("$getField requires 'field' to evaluate to type String, but got {kind}");
        return Err(type_mismatch(3_041_704, text));
    };
    match call.arg(1).value() {
        Some(ValueRef::Document(fields)) => Ok(fields.get(name).map(ValueRef::to_value)),
        Some(value) if value.is_nullish() => NULL,
        _ => Ok(None),
    }
}

fn merge(call: &In<'_>) -> Answer {
    let mut merged = Fields::new(call);
    let mut join = |value: ValueRef<'_>| match value {
        value if value.is_nullish() => Ok(()),
        ValueRef::Document(fields) => {
            fields.iter().try_for_each(|(name, value)| merged.insert(name, value))
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
    Ok(Some(merged.finish()))
}

fn change(call: &In<'_>, value: Option<ValueRef<'_>>) -> Answer {
    let ValueRef::String(name) = call.value(0) else {
        let (function, kind) = (call.name, call.arg(0).type_name());
        let text = "requires 'field' to evaluate to type String, but got";
        return Err(type_mismatch(4_161_107, format!("{function} {text} {kind}")));
    };
    let fields = match call.value(1) {
        value if value.is_nullish() => return NULL,
        ValueRef::Document(fields) => fields,
        _ => {
            let text = format!("{} requires 'input' to evaluate to type Object", call.name);
            return Err(type_mismatch(4_161_105, text));
        }
    };
    let mut growth = call.growth();
    growth.add_size(Size::of_value(ValueRef::Document(fields)))?;
    let mut changed = fields.to_tree();
    match value {
        Some(value) => changed.insert(name, growth.copy_value(value)?),
        None => drop(changed.remove(name)),
    }
    Ok(Some(Value::Document(changed)))
}

fn set(call: &In<'_>) -> Answer {
    change(call, call.arg(2).value())
}

fn unset(call: &In<'_>) -> Answer {
    change(call, None)
}
