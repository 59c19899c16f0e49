//! Names of databases, collections and indexes: what is allowed, checked on the server.

use engine::Namespace;

use crate::errors::{Error, InvalidNamespace, Result};

/// Longest database name, bytes.
const MAX_DATABASE: usize = 63;

/// Checks the name of a database.
pub(crate) fn database(name: &str) -> Result<()> {
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

/// Checks and builds the name of a collection that is used, not made.
pub(crate) fn collection(database_name: &str, name: &str) -> Result<Namespace> {
    database(database_name)?;
    if name.is_empty() || name.contains('\0') || name.starts_with('.') || name.ends_with('.') {
        let message = format!("Invalid namespace specified '{database_name}.{name}'");
        return Err(Error::new(InvalidNamespace, message));
    }
    Ok(Namespace::new(database_name, name))
}

/// Checks and builds the name of a collection that may be made.
pub(crate) fn new_collection(database_name: &str, name: &str) -> Result<Namespace> {
    let namespace = collection(database_name, name)?;
    if name.contains('$') || name.starts_with("system.") {
        let message = format!("Invalid collection name: {name}");
        return Err(Error::new(InvalidNamespace, message));
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
            assert!(database(name).is_err(), "{name:?}");
        }
        assert!(database("a-b_c").is_ok());
        for name in ["", ".a", "a.", "a\0b"] {
            assert!(collection("db", name).is_err(), "{name:?}");
        }
        for name in ["a$b", "system.users"] {
            assert!(collection("db", name).is_ok(), "{name:?}");
            assert!(new_collection("db", name).is_err(), "{name:?}");
        }
        assert!(new_collection("db", &"x".repeat(300)).is_err());
        assert_eq!(new_collection("db", "a.b").unwrap().to_string(), "db.a.b");
    }
}
