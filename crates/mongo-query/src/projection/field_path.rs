//! The rules for dotted paths in projections and sorts.

use crate::Error;

/// Most parts of a path.
const MAX_PARTS: usize = 200;

/// Checks a path; each part has to be a plain field name.
pub fn check(path: &str) -> Result<(), Error> {
    if path.is_empty() {
        return Err(Error::new(40352, "FieldPath cannot be constructed with empty string"));
    }
    if path.ends_with('.') {
        return Err(Error::new(40353, "FieldPath must not end with a '.'."));
    }
    if path.split('.').count() > MAX_PARTS {
        return Err(Error::new(15, "FieldPath is too long"));
    }
    path.split('.').try_for_each(part)
}

fn part(part: &str) -> Result<(), Error> {
    if part.is_empty() {
        return Err(Error::new(15998, "FieldPath field names may not be empty strings."));
    }
    if part.starts_with('$') && !matches!(part, "$id" | "$ref" | "$db") {
        return Err(Error::new(
            16410,
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        ));
    }
    Ok(())
}
