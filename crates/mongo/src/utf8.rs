//! Text that is not UTF-8. Old drivers wrote such text, and dumps contain it. Only UTF-8 is stored,
//! so a document with other text is refused: that document alone, as a failed write that identifies
//! it, not its whole batch.

use document::{DocRef, ValueRef, shell};

use crate::{
    errors::{Error, InvalidBSON, Result},
    wire::Message,
};

/// Returns the argument that lists a command's documents or statements, each of which can fail
/// separately; `None` if the command has no such list.
fn list_of(command: &str) -> Option<&'static str> {
    match command {
        "insert" => Some("documents"),
        "update" => Some("updates"),
        "delete" => Some("deletes"),
        "bulkWrite" => Some("ops"),
        _ => None,
    }
}

/// Checks the text of a command except for its documents or statements, which [`check_document`]
/// checks when they run. Fails with 22.
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

/// Checks the text of a document or statement. Fails with 22, naming the document's `_id` and the
/// field.
pub(crate) fn check_document(message: &Message, document: DocRef<'_>) -> Result<()> {
    let (_, Some(at)) = message.not_utf8_in(document) else { return Ok(()) };
    let field = field_at(document, at).unwrap_or_default();
    // A statement contains the document, or a filter that identifies it.
    let inner = |name: &str| document.get(name).and_then(|value| value.as_document());
    let of = [Some(document), inner("document"), inner("u"), inner("q"), inner("filter")];
    let id = of.into_iter().flatten().find_map(|it| it.get("_id"));
    let which = id.map_or(String::new(), |id| format!(" with _id {}", shell(id)));
    let text = format!(
        "the document{which} has a string that is not valid UTF-8, in the field '{field}': \
         strings are stored as UTF-8, so convert it first"
    );
    Err(Error::new(InvalidBSON, text))
}

/// Returns the name of the root field that contains a byte position.
fn field_at(document: DocRef<'_>, at: usize) -> Option<&str> {
    let DocRef::Raw(bytes) = document else { return None };
    let mut found = None;
    for (name, _) in document.iter() {
        // The name is part of the document's bytes, so its address gives the field's position.
        let begins = (name.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        if at < begins {
            break;
        }
        found = Some(name);
    }
    found
}
