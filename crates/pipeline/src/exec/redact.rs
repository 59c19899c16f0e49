//! Removes parts of documents (`$redact`). The expression is evaluated for each embedded document,
//! as `$$CURRENT`, and returns "keep", "prune" or "descend".

use document::{DocBuf, DocBuilder, DocRef, Value, ValueRef};
use evaluation::{Context, Error};

use crate::{
    expr::{Env, Expr, Variable, VariableScope},
    invalid_request, shown_or_missing,
};

/// Returns the remaining document; `None` if nothing remains. The expression returns strings that
/// the parser substitutes for `$$KEEP`, `$$PRUNE` and `$$DESCEND`.
pub(super) fn redact_document(
    expr: &Expr,
    document: DocRef<'_>,
    context: &Context,
) -> Result<Option<DocBuf>, Error> {
    redact_level(expr, document, document, context)
}

/// Returns the remaining part of the root or of an embedded document. `$$ROOT` is the whole row at
/// every level.
fn redact_level(
    expr: &Expr,
    root: DocRef<'_>,
    document: DocRef<'_>,
    context: &Context,
) -> Result<Option<DocBuf>, Error> {
    let env = Env::new(root, context);
    let mut bound = [Variable { name: "CURRENT", value: Some(ValueRef::Document(document)) }];
    let current = VariableScope::new(&mut bound, None);
    let verdict = expr.evaluate(&env.with_scope(&current))?;
    match verdict.as_ref().map(Value::as_ref) {
        Some(ValueRef::String("keep")) => Ok(Some(document.to_buf())),
        Some(ValueRef::String("prune")) => Ok(None),
        // Fields that contain no documents are kept; embedded documents are evaluated one by one.
        Some(ValueRef::String("descend")) => {
            let mut builder = DocBuilder::new();
            for (name, value) in document.iter() {
                if let Some(value) = redact_value(expr, root, value, context)? {
                    builder.append(name, value.as_ref());
                }
            }
            Ok(Some(builder.finish()))
        }
        other => {
            let value = shown_or_missing(&evaluation::Evaluated::from(other));
            let text = "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned";
            Err(invalid_request(17053, format!("{text} {value}")))
        }
    }
}

/// Returns the remaining part of a value: documents and arrays are redacted, other values kept.
/// Pruned documents are removed from an array.
fn redact_value(
    expr: &Expr,
    root: DocRef<'_>,
    value: ValueRef<'_>,
    context: &Context,
) -> Result<Option<Value>, Error> {
    match value {
        ValueRef::Document(fields) => {
            Ok(redact_level(expr, root, fields, context)?.map(|kept| Value::from(kept.as_ref())))
        }
        ValueRef::Array(values) => {
            let mut kept = Vec::new();
            for value in values.iter() {
                kept.extend(redact_value(expr, root, value, context)?);
            }
            Ok(Some(Value::Array(kept)))
        }
        other => Ok(Some(other.to_value())),
    }
}
