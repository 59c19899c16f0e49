//! A container's default TTL: an integer number of seconds or -1, and absent if TTL is disabled.

use document::{Document, Number, Value, json};
use engine::DefaultTtl;

use crate::failure::{Failure, Result};

/// Removes the default TTL from a definition, since the engine stores it separately. `null` is
/// refused and does not mean absent, as in Azure Cosmos DB.
pub(super) fn take_default(body: &mut Document) -> Result<DefaultTtl> {
    let Some(value) = body.remove("defaultTtl") else {
        // Azure Cosmos DB refuses a TTL property path without a default TTL.
        if body.get("ttlPropertyPath").is_some() {
            return Err(Failure::bad_request(
                "The property 'ttlPropertyPath' needs 'defaultTtl' to be specified.",
            ));
        }
        return Ok(DefaultTtl::Off);
    };
    if body.get("ttlPropertyPath").is_some() {
        return Err(Failure::unsupported("The property 'ttlPropertyPath'"));
    }
    let whole = Number::of(value.as_ref()).and_then(|number| number.to_i64_exact());
    match whole {
        Some(-1) => Ok(DefaultTtl::Infinite),
        Some(seconds) if (1..=i64::from(i32::MAX)).contains(&seconds) && is_whole(&value) => {
            Ok(DefaultTtl::Seconds(seconds))
        }
        _ => Err(Failure::bad_request(format!(
            "The value of property 'defaultTtl' '{}' is invalid. Ensure to provide a nonzero \
             positive integer less than or equal to '2147483647', or '-1' which means never \
             expire.",
            json::to_string(value.as_ref())
        ))),
    }
}

/// Returns whether a value is a JSON number without a fraction, such as `20.0`.
fn is_whole(value: &Value) -> bool {
    matches!(value, Value::Int64(_) | Value::Double(_))
}

/// Appends the default TTL to a container's definition, if it has one.
pub(crate) fn write_default(default: DefaultTtl, out: &mut Document) {
    match default {
        DefaultTtl::Off => {}
        DefaultTtl::Infinite => out.push("defaultTtl", Value::Int64(-1)),
        DefaultTtl::Seconds(seconds) => out.push("defaultTtl", Value::Int64(seconds)),
    }
}
