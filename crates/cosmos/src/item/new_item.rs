//! A new item from a client: an object with an id, without the properties that the server sets.
//! Whether a container accepts it depends on its partition key and unique keys.

use document::{DocBuf, DocRef, Document, Value, json};

use super::SYSTEM;
use crate::{
    binary,
    failure::{Failure, Result},
    limits::{MAX_DEPTH, MAX_ITEM_BYTES, MAX_ITEM_ID_BYTES},
};

/// An item with valid form, size, depth and id.
#[derive(Clone, Debug)]
pub(crate) struct NewItem {
    document: Document,
}

impl NewItem {
    /// Parses a request body, as text or binary JSON.
    pub(crate) fn parse(body: &[u8]) -> Result<Self> {
        if MAX_ITEM_BYTES < body.len() {
            return Err(Failure::too_large());
        }
        Self::from_document(match binary::is_binary(body) {
            true => binary::read_document(body, MAX_DEPTH, MAX_ITEM_BYTES)?,
            false => json::parse_document(body, MAX_DEPTH)?,
        })
    }

    /// Validates a parsed object and drops the properties that the server sets. The error texts are
    /// Azure Cosmos DB's.
    pub(crate) fn from_document(mut document: Document) -> Result<Self> {
        // Most new items have none of these properties, so that this single pass over the names
        // suffices.
        if document.fields().iter().any(|(name, _)| SYSTEM.contains(&name.as_str())) {
            for name in SYSTEM {
                document.remove(name);
            }
        }
        match document.get("id") {
            Some(Value::String(id)) => check_new_id(id)?,
            None => {
                return Err(Failure::bad_request(
                    "The input content is invalid because the required properties - 'id; ' - are \
                     missing",
                ));
            }
            Some(other) => {
                let shown = json::to_string(other.as_ref());
                return Err(Failure::bad_request(format!(
                    "The input content is invalid because the property 'id' is '{shown}' and not a \
                     string.",
                )));
            }
        }
        Ok(Self { document })
    }

    pub(crate) fn id(&self) -> &str {
        self.document.get("id").and_then(|id| id.as_ref().as_str()).unwrap_or_default()
    }

    pub(crate) fn as_document(&self) -> DocRef<'_> {
        DocRef::Tree(&self.document)
    }

    /// Returns the item in stored form.
    pub(crate) fn to_buf(&self) -> DocBuf {
        self.document.to_buf()
    }
}

/// Refuses an id that a new item must not have, such as one with a backslash. Earlier versions
/// stored such ids, and they can still be read.
fn check_new_id(id: &str) -> Result<()> {
    check_id(id)?;
    if !id.contains('\\') {
        return Ok(());
    }
    let shown: String = id.chars().take(100).collect();
    Err(Failure::bad_request(format!(
        "The input name '{shown}' is invalid. Ensure to provide a name without '\\'."
    )))
}

/// Refuses an id that no item can have: an empty one, or one that is too long.
pub(crate) fn check_id(id: &str) -> Result<()> {
    if (1..=MAX_ITEM_ID_BYTES).contains(&id.len()) {
        return Ok(());
    }
    let shown: String = id.chars().take(100).collect();
    Err(Failure::bad_request(format!(
        "The input name '{shown}' is invalid. Ensure to provide a unique non-empty string less \
         than '{}' characters.",
        MAX_ITEM_ID_BYTES + 1
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_an_id() {
        let long = "x".repeat(1023);
        let with = |id: &str| format!(r#"{{"id":{id}}}"#);
        for (text, want) in [
            (with("\"a\""), "a"),
            (with("\"a b%\u{e9}\u{65e5}\""), "a b%é日"),
            (with(&format!("\"{long}\"")), long.as_str()),
            (with(&format!("\"{long}x\"")), "refused"),
            (with("\"\""), "refused"),
            (with("\"a/b\""), "a/b"),
            (with("\"a\\\\b\""), "refused"),
            (with("\"a?\""), "a?"),
            (with("\"a#\""), "a#"),
            (with("\"a \""), "a "),
            (with("1"), "refused"),
            (with("null"), "refused"),
            ("{}".to_owned(), "refused"),
            (r#"{"Id":"a"}"#.to_owned(), "refused"),
            ("[]".to_owned(), "refused"),
            ("{".to_owned(), "refused"),
            (String::new(), "refused"),
        ] {
            let found = NewItem::parse(text.as_bytes());
            assert_eq!(found.as_ref().map_or("refused", NewItem::id), want, "{text}");
        }
    }

    #[test]
    fn what_the_server_sets_is_not_kept() {
        let text =
            br#"{"_ts":1,"id":"a","_etag":"x","_rid":1,"_self":{},"_attachments":[],"_x":2}"#;
        let found = NewItem::parse(text).unwrap();
        let names: Vec<&str> = found.as_document().iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["id", "_x"]);
    }

    #[test]
    fn size_and_depth_are_limited() {
        let text = |len: usize| format!(r#"{{"id":"a","x":"{}"}}"#, "y".repeat(len));
        assert!(NewItem::parse(text(MAX_ITEM_BYTES - 18).as_bytes()).is_ok());
        let large = NewItem::parse(text(MAX_ITEM_BYTES).as_bytes()).unwrap_err();
        assert_eq!(large.fault.status(), 413);
        let deep = format!(r#"{{"id":"a","x":{}{}}}"#, "[".repeat(128), "]".repeat(128));
        assert_eq!(NewItem::parse(deep.as_bytes()).unwrap_err().fault.status(), 400);
    }
}
