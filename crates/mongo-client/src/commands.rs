//! The bodies of the commands with which a connection begins, and how every body does. Each function
//! returns what fills in a builder, so that a connection can use one buffer for all its requests.

use document::{DocBuilder, ValueRef};

/// Begins a command: its name has to be the first field.
pub fn begin_command(body: &mut DocBuilder, name: &str, value: ValueRef<'_>, database: &str) {
    body.append(name, value);
    body.append("$db", ValueRef::String(database));
}

/// The greeting, with which every connection begins.
pub fn hello_command(body: &mut DocBuilder) {
    begin_command(body, "hello", ValueRef::Int32(1), "admin");
}

/// The first step of a login by SCRAM-SHA-256 to the database that knows the user.
pub fn begin_login(database: &str, payload: &str) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "saslStart", ValueRef::Int32(1), database);
        body.append("mechanism", ValueRef::String("SCRAM-SHA-256"));
        body.append("payload", binary(payload));
        body.document("options", |options| {
            options.append("skipEmptyExchange", ValueRef::Bool(true));
        });
    }
}

/// Its last step.
pub fn end_login(database: &str, conversation: i64, payload: &str) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "saslContinue", ValueRef::Int32(1), database);
        body.append("conversationId", ValueRef::Int64(conversation));
        body.append("payload", binary(payload));
    }
}

/// A text as bytes.
fn binary(text: &str) -> ValueRef<'_> {
    ValueRef::Binary { subtype: 0, bytes: text.as_bytes() }
}

#[cfg(test)]
mod tests {
    use document::{DocBuf, DocRef, ValueRef};

    use super::*;

    fn built(fill: impl FnOnce(&mut DocBuilder)) -> DocBuf {
        let mut body = DocBuilder::new();
        fill(&mut body);
        body.finish()
    }

    #[test]
    fn a_login_names_its_database() {
        for body in [built(begin_login("shop", "x")), built(end_login("shop", 7, "x"))] {
            assert_eq!(body.get("$db").and_then(ValueRef::as_str), Some("shop"));
            assert!(
                matches!(body.get("payload"), Some(ValueRef::Binary { bytes: b"x", .. })),
                "{body:?}"
            );
        }
        let begun = built(begin_login("shop", "x"));
        let mechanism = begun.get("mechanism").and_then(ValueRef::as_str);
        assert_eq!(mechanism, Some("SCRAM-SHA-256"));
        let first = |body: &DocBuf| DocRef::iter(body.as_ref()).next().map(|it| it.0.to_owned());
        assert_eq!(first(&built(hello_command)).as_deref(), Some("hello"));
    }
}
