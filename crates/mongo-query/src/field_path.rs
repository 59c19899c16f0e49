//! Validation of a FieldPath, the dotted path of fields in expressions, projections and sorts.
//! Paths in filters and updates have other rules. Numbers and texts are those of mongod 6.0:
//! drivers show them, and tests of applications compare the numbers.
//!
//! ```text
//! ""       40352      "a."    40353      "a..b"   15998
//! "a.$b"   16410      "a\\0"   16411      201 parts    15
//! ```

use crate::Error;

/// Maximum number of parts of a path, which is mongod's maximum depth of a document.
const MAX_PARTS: usize = 200;

/// Error text for several wrong uses of `$`.
const DOLLAR: &str =
    "FieldPath field names may not start with '$'. Consider using $getField or $setField.";

/// Error text for a path that has an empty field name.
const EMPTY: &str = "FieldPath field names may not be empty strings.";

/// Checks a path. Fails with 40352, 40353, 15, 15998, 16410 or 16411, depending on the mistake.
/// Since a path may be wrong in several ways, the whole path is checked before its parts, as in
/// mongod.
pub fn check_path(path: &str) -> Result<(), Error> {
    if path.is_empty() {
        return Err(Error::new(40352, "FieldPath cannot be constructed with empty string"));
    }
    if path.ends_with('.') {
        return Err(Error::new(40353, "FieldPath must not end with a '.'."));
    }
    if path.split('.').count() > MAX_PARTS {
        return Err(Error::new(15, "FieldPath is too long"));
    }
    path.split('.').try_for_each(check_part)
}

/// Checks a path that is not written as a reference with `$`. The names of a database reference,
/// such as `$id`, are refused as the first part, since they would be ambiguous.
pub(crate) fn check_plain_path(path: &str) -> Result<(), Error> {
    if path.starts_with('$') {
        return Err(Error::new(16410, DOLLAR));
    }
    check_path(path)
}

/// Checks the name of a field that an expression or a stage creates. It must not be empty, a path,
/// or the name of an operator.
pub(crate) fn check_field_name(name: &str) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::new(15998, EMPTY));
    }
    if name.starts_with('$') {
        return Err(Error::new(16410, DOLLAR));
    }
    if name.contains('.') {
        let text =
            "FieldPath field names may not contain '.'. Consider using $getField or $setField.";
        return Err(Error::new(16412, text));
    }
    Ok(())
}

/// Checks one part of a path. The names of a database reference may start with `$`.
fn check_part(part: &str) -> Result<(), Error> {
    if part.is_empty() {
        return Err(Error::new(15998, EMPTY));
    }
    if part.starts_with('$') && !matches!(part, "$id" | "$ref" | "$db") {
        return Err(Error::new(16410, DOLLAR));
    }
    // A name in BSON cannot contain a NUL, but a path given as a string can.
    if part.contains('\0') {
        return Err(Error::new(16411, "FieldPath field names may not contain '\0'."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_have_their_errors() {
        let code = |checked: Result<(), Error>| checked.map_or_else(|error| error.code, |()| 0);
        for (path, whole, plain, name) in [
            ("a", 0, 0, 0),
            ("a.b", 0, 0, 16412),
            ("", 40352, 40352, 15998),
            ("a.", 40353, 40353, 16412),
            ("a..b", 15998, 15998, 16412),
            ("$a", 16410, 16410, 16410),
            ("$id", 0, 16410, 16410),
            ("a.$id", 0, 0, 16412),
            ("a.$", 16410, 16410, 16412),
            ("a\0b", 16411, 16411, 0),
        ] {
            let codes = (check_path(path), check_plain_path(path), check_field_name(path));
            assert_eq!(
                (code(codes.0), code(codes.1), code(codes.2)),
                (whole, plain, name),
                "{path}"
            );
        }
        assert_eq!(code(check_path(&["a"; MAX_PARTS].join("."))), 0);
        assert_eq!(code(check_path(&["a"; MAX_PARTS + 1].join("."))), 15);
    }
}
