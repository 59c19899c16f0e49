//! Rules for names of databases and collections. The name of an existing collection is checked less
//! strictly than that of a new one, so that collections made under older rules stay readable.

use engine::Namespace;

use crate::errors::{Error, InvalidNamespace, Result};

/// Maximum length of a database name in bytes.
const MAX_DATABASE: usize = 63;

/// The system collection that clients may create and write: stored functions, which tools read and
/// write although they cannot be run here.
const OPEN: &str = "system.js";

/// The collection of recorded commands. Clients may create it and read it, but not write to it.
pub(crate) const PROFILE: &str = "system.profile";

/// The databases that every server has, since MongoDB keeps users and settings in them.
pub(crate) const SYSTEM_DATABASES: [&str; 3] = ["admin", "config", "local"];

/// The database of users that others authenticate. It has no collections.
const EXTERNAL: &str = "$external";

/// Checks the name of a database: fails with 73 if it is empty, longer than 63 bytes or has a
/// character that file names or namespaces cannot have. `$external`, which drivers use for logins,
/// is valid.
pub(crate) fn check_database(name: &str) -> Result<()> {
    let bad = name.is_empty()
        || MAX_DATABASE < name.len()
        || name.contains(['/', '\\', '.', ' ', '"', '$', '\0']);
    if bad && name != "$external" {
        let shown: String = name.chars().take(100).collect();
        let message = format!("Invalid database name: '{shown}'");
        return Err(Error::new(InvalidNamespace, message));
    }
    Ok(())
}

/// Checks the name of a collection that is used, not created, and returns the namespace.
pub(crate) fn parse_collection(database_name: &str, name: &str) -> Result<Namespace> {
    check_database(database_name)?;
    let message = if name.is_empty() {
        format!("Invalid namespace specified '{database_name}.{name}'")
    } else if name.contains('\0') {
        "namespaces cannot have embedded null characters".to_owned()
    } else if name.starts_with('.') {
        format!("Collection names cannot start with '.': {name}")
    } else {
        return Ok(Namespace::new(database_name, name));
    };
    Err(Error::new(InvalidNamespace, message))
}

/// Fails with 73 on a name that no collection can have, as MongoDB does for reads and writes of
/// documents.
pub(crate) fn check_no_dollar(namespace: &Namespace) -> Result<()> {
    if !namespace.collection.contains('$') {
        return Ok(());
    }
    let message = format!("Invalid collection name: {}", namespace.collection);
    Err(Error::new(InvalidNamespace, message))
}

/// Splits `database.collection` at the first dot, checks both names, and returns the namespace.
pub(crate) fn parse_full_name(name: &str) -> Result<Namespace> {
    let (database, collection_name) = name.split_once('.').unwrap_or((name, ""));
    parse_collection(database, collection_name)
}

/// Returns whether a name is a system collection that clients cannot use. In system databases even
/// `system.js` is reserved.
fn is_reserved(database: &str, name: &str) -> bool {
    let is_own = SYSTEM_DATABASES.contains(&database) || database == EXTERNAL;
    name.starts_with("system.") && (name != OPEN || is_own)
}

/// Checks the name of a collection that `create` makes, which may also be [`PROFILE`], and returns
/// the namespace. Fails as [`new_collection`] does.
pub(crate) fn created_collection(database_name: &str, name: &str) -> Result<Namespace> {
    match name {
        PROFILE => new_name(database_name, name),
        _ => new_collection(database_name, name),
    }
}

/// Fails with 73 on [`PROFILE`], into which only the server inserts.
pub(crate) fn check_writable(namespace: &Namespace) -> Result<()> {
    if namespace.collection == PROFILE {
        return Err(Error::new(InvalidNamespace, format!("cannot write to {namespace}")));
    }
    Ok(())
}

/// Fails with 12050 on [`PROFILE`], whose documents only leave it when it is full.
pub(crate) fn check_deletable(namespace: &Namespace) -> Result<()> {
    if namespace.collection == PROFILE {
        return Err(Error::new(12050, "cannot delete from system namespace"));
    }
    Ok(())
}

/// Checks the name of a new collection, and returns the namespace: no dollar, no system collection,
/// no database that differs from a system database only in case (13297), and short enough for a
/// catalog key. The engine detects other databases that differ only in case.
pub(crate) fn new_collection(database_name: &str, name: &str) -> Result<Namespace> {
    let namespace = parse_collection(database_name, name)?;
    check_no_dollar(&namespace)?;
    if is_reserved(database_name, name) {
        let message = format!("Invalid system namespace: {namespace}");
        return Err(Error::new(InvalidNamespace, message));
    }
    new_name(database_name, name)
}

/// Checks the name of a new collection, apart from the rules for system collections.
fn new_name(database_name: &str, name: &str) -> Result<Namespace> {
    let namespace = parse_collection(database_name, name)?;
    check_no_dollar(&namespace)?;
    let differs = |own: &&&str| own.eq_ignore_ascii_case(database_name) && **own != database_name;
    if let Some(own) = SYSTEM_DATABASES.iter().chain([&EXTERNAL]).find(differs) {
        return Err(Error::other_case(own, database_name));
    }
    if engine::limits::MAX_NAMESPACE_BYTES < database_name.len() + name.len() + 1 {
        let message = format!(
            "Fully qualified namespace is too long. Namespace: {namespace} Max: {}",
            engine::limits::MAX_NAMESPACE_BYTES
        );
        return Err(Error::new(InvalidNamespace, message));
    }
    Ok(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_forbidden_characters_are_refused() {
        for name in ["", "a.b", "a b", "a$b", "a/b", "a\\b", "a\"b", "a\0b"] {
            assert!(check_database(name).is_err(), "{name:?}");
        }
        assert!(check_database("a-b_c").is_ok());
        for name in ["", ".a", "a\0b"] {
            assert!(parse_collection("db", name).is_err(), "{name:?}");
        }
        for name in ["a.", "a..b", "system.js", "systems.x"] {
            assert!(new_collection("db", name).is_ok(), "{name:?}");
        }
        for name in
            ["a$b", "system.", "system.js.x", "system.users", "system.profile", "system.views"]
        {
            assert!(parse_collection("db", name).is_ok(), "{name:?}");
            assert!(new_collection("db", name).is_err(), "{name:?}");
        }
        assert!(check_no_dollar(&Namespace::new("db", "a$b")).is_err());
        assert!(check_no_dollar(&Namespace::new("db", "ab")).is_ok());
        assert!(new_collection("db", &"x".repeat(300)).is_err());
        assert!(created_collection("db", "system.profile").is_ok());
        assert!(created_collection("db", "system.views").is_err());
        assert_eq!(new_collection("Admin", "a").unwrap_err().code, 13297);
        assert!(new_collection("admin", "a").is_ok());
        assert_eq!(new_collection("db", "a.b").unwrap().to_string(), "db.a.b");
    }
}
