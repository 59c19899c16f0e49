//! Sets the computed fields of a projection in the copied document.

use document::{Document, Value};
use evaluation::{Error, Growth, STEP, Size};

use super::{Item, Node};
use crate::expr::Env;

/// Sets the computed fields of a document, checking their size. `env` evaluates on the original
/// document, not on the copy. A missing value removes the field.
pub(super) fn compute_fields(
    out: &mut Document,
    node: &Node,
    env: &Env<'_>,
    growth: &mut Growth<'_>,
) -> Result<(), Error> {
    if !node.has_computed() {
        return Ok(());
    }
    for (name, item) in node.fields() {
        match item {
            Item::Computed(computed) => {
                env.context.budget.spend_bounded(STEP)?;
                let got = computed.computed_value(&env.with_held(growth.memory_bytes())?)?;
                if let Some(value) = got.value() {
                    growth.add_name(name)?;
                    growth.add_size(Size::of_value(value))?;
                }
                match got.into_value() {
                    Some(value) => out.insert(name.as_str(), value),
                    None => {
                        // Removing a field searches all fields and moves the fields after it.
                        env.context.budget.spend_bounded(out.len())?;
                        out.remove(name);
                    }
                }
            }
            // If the copy lacks the field, a document is created for the computed fields below it.
            Item::Node(inner) if inner.has_computed() => match out.get_mut(name) {
                Some(held) => compute_value(held, inner, env, growth)?,
                None => {
                    let mut made = Document::new();
                    compute_fields(&mut made, inner, env, growth)?;
                    out.push(name.as_str(), made);
                }
            },
            Item::Node(_) | Item::Named => {}
        }
    }
    Ok(())
}

/// Sets the computed fields in a value: in every document of an array, and in a new document in
/// place of a scalar. The same values are set in each.
fn compute_value(
    held: &mut Value,
    node: &Node,
    env: &Env<'_>,
    growth: &mut Growth<'_>,
) -> Result<(), Error> {
    match held {
        Value::Document(inner) => compute_fields(inner, node, env, growth),
        Value::Array(values) => {
            values.iter_mut().try_for_each(|held| compute_value(held, node, env, growth))
        }
        other => {
            let mut made = Document::new();
            compute_fields(&mut made, node, env, growth)?;
            *other = Value::Document(made);
            Ok(())
        }
    }
}
