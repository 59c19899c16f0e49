//! Text that is not UTF-8. Old drivers wrote such text, and dumps have it; here all text is UTF-8, so
//! that a document with other text is refused: that document alone, as a failed write that names it,
//! and not the batch that it came with.

use document::{DocRef, ValueRef, shell};

use crate::{
    errors::{Error, InvalidBSON, Result},
    wire::Message,
};

/// The argument of a command that lists documents or statements which fail each for itself.
fn list_of(command: &str) -> Option<&'static str> {
    match command {
        "insert" => Some("documents"),
        "update" => Some("updates"),
        "delete" => Some("deletes"),
        "bulkWrite" => Some("ops"),
        _ => None,
    }
}

/// Checks the text of a command of this name, but for that of its documents or statements, each of
/// which is checked by [`check_document`] when its turn comes. Fails with 22.
pub(crate) fn check_command(message: &Message, name: &str) -> Result<()> {
    if message.not_utf8.is_empty() {
        return Ok(());
    }
    let mut in_list = 0;
    if let Some(list) = list_of(name) {
        for document in message.sequence(list).unwrap_or_default() {
            in_list += message.not_utf8_in(DocRef::Raw(document)).0;
        }
        if let Some(ValueRef::Array(listed)) = message.body().get(list) {
            let documents = listed.iter().filter_map(ValueRef::as_document);
            in_list += documents.map(|document| message.not_utf8_in(document).0).sum::<usize>();
        }
    }
    if in_list == message.not_utf8.len() {
        return Ok(());
    }
    Err(Error::new(InvalidBSON, "the text of the command is not valid UTF-8"))
}

/// Checks the text of a document or statement of a command. Fails with 22 and says which document
/// that is, by its `_id`, and in which of its fields the text is.
pub(crate) fn check_document(message: &Message, document: DocRef<'_>) -> Result<()> {
    let (_, Some(at)) = message.not_utf8_in(document) else { return Ok(()) };
    let field = field_at(document, at).unwrap_or_default();
    // A statement has the document, or the filter that names it, inside.
    let inner = |name: &str| document.get(name).and_then(|value| value.as_document());
    let of = [Some(document), inner("document"), inner("u"), inner("q"), inner("filter")];
    let id = of.into_iter().flatten().find_map(|it| it.get("_id"));
    let which = id.map_or(String::new(), |id| format!(" with _id {}", shell(id)));
    let text = format!(
        "the document{which} has text that is not valid UTF-8, in the field '{field}': all text is \
         stored as UTF-8, so convert it before"
    );
    Err(Error::new(InvalidBSON, text))
}

/// The name of the field at the root of a document that holds a byte.
fn field_at(document: DocRef<'_>, at: usize) -> Option<&str> {
    let DocRef::Raw(bytes) = document else { return None };
    let mut found = None;
    for (name, _) in document.iter() {
        // A field begins before its name, which is a part of the document's bytes.
        let begins = (name.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        if at < begins {
            break;
        }
        found = Some(name);
    }
    found
}
