//! Permissions: a resource, or a logical partition of it, that a user may access, and whether the
//! user may also write. Users are in `routes/users.rs`.
//!
//! A signed token names a permission and its version. The contents of the permission are read for
//! each request, so that changing or deleting a permission revokes its tokens immediately.

use auth::Token;
use document::{Document, Value};
use engine::{Engine, Resource};

use crate::{
    failure::{Failure, Fault, Result},
    limits::MAX_KEY_PATHS,
    partition_key::{self, Component},
    resource_path::ResourcePath,
};

/// Separator of path parts in a token; names of resources cannot contain it.
const SEPARATOR: &str = "/";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Permission {
    pub(crate) writes: bool,
    /// Path of the resource; resources below it are included.
    pub(crate) path: ResourcePath,
    /// The only logical partition to which the permission gives access; `None` if it is not limited
    /// to one.
    pub(crate) partition: Option<Vec<Component>>,
}

impl Permission {
    /// Parses a permission from a request or from its stored form.
    pub(crate) fn parse(body: &Document) -> Result<Self> {
        let text = |name: &str| body.get(name).and_then(|value| value.as_ref().as_str());
        let writes = match text("permissionMode") {
            Some(mode) if mode.eq_ignore_ascii_case("read") => false,
            Some(mode) if mode.eq_ignore_ascii_case("all") => true,
            _ => {
                return Err(Failure::bad_request(
                    "The permissionMode of a permission must be Read or All.",
                ));
            }
        };
        let path = text("resource").and_then(ResourcePath::parse).ok_or_else(|| {
            Failure::bad_request(
                "The resource of a permission must be the link of a database, of a container, or \
                 of a resource in a container.",
            )
        })?;
        let partition = match body.get("resourcePartitionKey") {
            None | Some(Value::Null) => None,
            Some(Value::Array(values)) if values.len() <= MAX_KEY_PATHS => {
                let components = Component::of_list(values).ok_or_else(bad_key)?;
                partition_key::check_len(&components)?;
                Some(components)
            }
            Some(_) => return Err(bad_key()),
        };
        Ok(Self { writes, path, partition })
    }

    /// Returns the permission that a token names. Fails if the permission has been changed since
    /// the token was issued.
    pub(crate) fn of_token(engine: &Engine, token: &Token) -> Result<Self> {
        let path: Vec<&str> = token.permission.split(SEPARATOR).collect();
        let held = engine.resource_at(&path).filter(|held| held.stamp == token.version);
        let permission = held.and_then(|held| Self::parse(&held.body).ok());
        permission.ok_or_else(|| {
            let text = "The token's permission was deleted or has changed.";
            Failure::new(Fault::Forbidden, text)
        })
    }
}

fn bad_key() -> Failure {
    Failure::bad_request(
        "The resourcePartitionKey of a permission must be an array with a partition key.",
    )
}

/// Returns the contents of a token that grants a stored permission.
pub(crate) fn token_of(held: &Resource) -> Token {
    Token { permission: held.path.join(SEPARATOR), version: held.stamp }
}

#[cfg(test)]
mod tests {
    use document::json;

    use super::*;

    #[test]
    fn permissions() {
        let c = r#""resource":"dbs/d/colls/c""#;
        let key =
            |key: &str| format!(r#"{{"permissionMode":"All",{c},"resourcePartitionKey":{key}}}"#);
        for (text, good) in [
            (format!(r#"{{"permissionMode":"Read",{c}}}"#), true),
            (format!(r#"{{"permissionMode":"ALL",{c}}}"#), true),
            (format!(r#"{{"permissionMode":"Write",{c}}}"#), false),
            (format!("{{{c}}}"), false),
            (r#"{"permissionMode":"All"}"#.to_owned(), false),
            (r#"{"permissionMode":"All","resource":"dbs/d/x/y"}"#.to_owned(), false),
            (key("null"), true),
            (key(r#"["a",1,{}]"#), true),
            (key("[]"), true),
            (key(r#""a""#), false),
            (key("[[]]"), false),
            (key(r#"[{"a":1}]"#), false),
            (key("[1,2,3,4]"), false),
            (key(&format!("[\"{}\"]", "x".repeat(2048))), true),
            (key(&format!("[\"{}\"]", "x".repeat(2049))), false),
        ] {
            let body = json::parse_document(text.as_bytes(), 9).unwrap();
            assert_eq!(Permission::parse(&body).is_ok(), good, "{text}");
        }
    }
}
