//! Validates ids of resources other than items: databases, containers, users, scripts. Links
//! contain these ids unencoded, so characters that delimit the segments of a link are refused.

use document::Value;

use crate::{
    failure::{Failure, Result},
    limits::MAX_NAME_CHARS,
    rid::Rid,
};

/// Validates the id of a new resource. An id in the form of a resource id of this server is
/// refused, since a link that contains it would be ambiguous.
pub(crate) fn check_name(id: Option<&Value>) -> Result<String> {
    let Some(Value::String(id)) = id else {
        return Err(Failure::bad_request(
            "The input name is missing or not a text. Ensure to provide a unique non-empty string.",
        ));
    };
    let fits = !id.is_empty() && id.chars().count() <= MAX_NAME_CHARS;
    let allowed = !id.contains(['/', '\\', '?', '#', '\0', '\r', '\n']) && !id.ends_with(' ');
    if Rid::parse(id).is_some_and(Rid::may_be_given) {
        return Err(Failure::bad_request(format!(
            "The input name '{id}' is invalid. It has the form of a resource id of this server."
        )));
    }
    if fits && allowed {
        return Ok(id.clone());
    }
    Err(Failure::bad_request(format!(
        "The input name '{id}' is invalid. Ensure to provide a unique non-empty string of up to \
         '{MAX_NAME_CHARS}' characters without '/', '\\', '?', '#' and without a space at its end."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let long = "x".repeat(255);
        for (id, good) in [
            ("a", true),
            ("a b.%é日", true),
            (long.as_str(), true),
            (&format!("{long}x"), false),
            ("", false),
            ("a ", false),
            ("a/b", false),
            ("a\\b", false),
            ("a?", false),
            ("#", false),
            ("a\n", false),
            // Texts in the form of resource ids. The last two are permitted, because this server
            // never assigns them as ids.
            ("AAAAAQ==", false),
            ("AAAAAYAAAAI=", false),
            ("AAAAAYAAAAIABAAAAAAAAA==", false),
            ("dGVzdA==", true),
            ("AAAAAQ", true),
        ] {
            assert_eq!(check_name(Some(&id.into())).is_ok(), good, "{id}");
        }
        check_name(None).unwrap_err();
        check_name(Some(&Value::Int64(1))).unwrap_err();
    }
}
