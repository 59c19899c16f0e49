//! The bodies of the commands that open a connection, and the start of every body. Each function
//! fills a builder, so that a connection can use one buffer for all its requests.

use document::{DocBuilder, ValueRef};

/// Starts a command, whose name must be the first field.
pub fn begin_command(body: &mut DocBuilder, name: &str, value: ValueRef<'_>, database: &str) {
    body.append(name, value);
    body.append("$db", ValueRef::String(database));
}

/// Fills in the handshake that opens every connection.
pub fn hello_command(body: &mut DocBuilder) {
    begin_command(body, "hello", ValueRef::Int32(1), "admin");
}

/// Returns the first step of a SCRAM-SHA-256 login on the user's database.
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

/// Returns the last step of a SCRAM-SHA-256 login.
pub fn end_login(database: &str, conversation: i64, payload: &str) -> impl FnOnce(&mut DocBuilder) {
    move |body| {
        begin_command(body, "saslContinue", ValueRef::Int32(1), database);
        body.append("conversationId", ValueRef::Int64(conversation));
        body.append("payload", binary(payload));
    }
}

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
