//! Values of parameters: how deep they may be nested, and the constants that they become.

use document::Value;

use super::Binder;
use crate::{
    error::{Fault, Span},
    limits::MAX_FILLED_BYTES,
};

/// Whether a parameter's value is nested no deeper than `depth` levels.
/// Values of parameters come from outside and are walked by recursion later; this walk is itself
/// no deeper than the limit.
pub(super) fn is_within_depth(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(values) => {
            depth > 0 && values.iter().all(|value| is_within_depth(value, depth - 1))
        }
        Value::Document(fields) => {
            depth > 0 && fields.fields().iter().all(|(_, value)| is_within_depth(value, depth - 1))
        }
        _ => true,
    }
}

impl Binder<'_> {
    /// A parameter as a constant: a copy for each place where it stands, which together are
    /// bounded.
    /// A small text could otherwise name one large parameter a great many times.
    pub(super) fn fill_in_parameter(&mut self, name: &str, at: Span) -> Result<Value, Fault> {
        let Some(value) = self.parameters.get(name) else {
            if self.needs_values {
                self.note(Fault::Parameter(at, name.to_owned()));
            }
            return Ok(Value::Undefined);
        };
        self.filled = self.filled.saturating_add(evaluation::memory_of(value.as_ref()));
        if MAX_FILLED_BYTES < self.filled {
            let message = format!(
                "The parameters take more than {MAX_FILLED_BYTES} bytes where they are used."
            );
            return Err(Fault::Limit(at, "SC3057", message));
        }
        Ok(Value::clone(value))
    }
}
