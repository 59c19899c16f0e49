//! Parameters: checks the nesting of their values and makes them constants.

use document::Value;
use select::plan::Window;

use super::Binder;
use crate::{
    ast::{ClauseCount, NodeKind, Query},
    error::{Fault, Span},
};

/// Maximum nesting of a parameter's value. Stored documents have a separate limit.
pub(super) const MAX_PARAMETER_DEPTH: usize = 128;
/// Maximum total size of parameter values in the plan, in bytes. A parameter that is used several
/// times counts as often.
const MAX_FILLED_BYTES: usize = 64 * 1024 * 1024;

/// Returns whether a value is nested at most `depth` levels. Values come from clients and are later
/// processed recursively. The recursion of this check is bounded by `depth`.
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
    /// Returns a copy of a parameter's value as a constant. Each use of the parameter has a copy.
    /// The total size of the copies is limited, because a small text could use one large parameter
    /// many times.
    pub(super) fn fill_in_parameter(&mut self, name: &str, at: Span) -> Result<Value, Fault> {
        let Some(value) = self.parameters.get(name) else {
            if self.needs_values {
                self.record_fault(Fault::Parameter(at, name.to_owned()));
            }
            return Ok(Value::Undefined);
        };
        self.filled = self.filled.saturating_add(evaluation::memory_of(value.as_ref()));
        if MAX_FILLED_BYTES < self.filled {
            let message = format!("The parameters expand to more than {MAX_FILLED_BYTES} bytes.");
            return Err(Fault::Limit(at, "SC3057", message));
        }
        Ok(Value::clone(value))
    }

    /// Binds TOP, or OFFSET and LIMIT, to a window over the results. A query that has TOP and LIMIT
    /// was reported before.
    pub(super) fn bind_window(&mut self, query: &Query, with_top: bool) -> Window {
        let mut window = Window::default();
        if let Some(top) = query.top.as_ref().filter(|_| with_top) {
            window.take = Some(self.count_value(top));
        }
        if let Some((offset, limit)) = &query.window {
            window = Window { skip: self.count_value(offset), take: Some(self.count_value(limit)) };
        }
        window
    }

    /// Returns the value of TOP, OFFSET or LIMIT, which must be a non-negative whole number of 32
    /// bits; `2.0` is whole. Other values are reported with the name of the clause.
    pub(super) fn count_value(&mut self, count: &ClauseCount) -> u64 {
        let value = match &count.node.kind {
            NodeKind::Literal(value) => Some(value),
            NodeKind::Parameter(name) => self.parameters.get(name.as_str()).copied(),
            _ => None,
        };
        // A negative number is refused by the conversion.
        let whole = value.and_then(|value| select::to_i64(value.as_ref()));
        let whole = whole.and_then(|value| u32::try_from(value).ok());
        if whole.is_none() {
            self.record_fault(Fault::Count(count.node.span(), count.clause));
        }
        whole.map_or(0, u64::from)
    }
}
