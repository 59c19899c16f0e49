//! Names of roles and of users, each within a database. Whether they exist is not checked here.

use std::{collections::HashSet, fmt};

use document::{ArrayRef, DocRef, Document, Value, ValueRef, doc};

use crate::{
    errors::{BadValue, Error, NoSuchKey, Result, TypeMismatch},
    limits::{MAX_ACCESS_NAME_BYTES, MAX_ROLES},
    names,
};

/// The name of a role. Roles of different databases are different roles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RoleName {
    pub(crate) role: String,
    pub(crate) database: String,
}

/// The name of a user. Users of different databases are different users.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct UserName {
    pub(crate) user: String,
    /// The database that the user authenticates against.
    pub(crate) database: String,
}

impl RoleName {
    /// Creates a name without checking it.
    pub(crate) fn new(role: &str, database: &str) -> Self {
        Self { role: role.to_owned(), database: database.to_owned() }
    }

    /// Reads a string, a role of `database`, or a document `{role, db}`. Fails with 2 if the value
    /// has another type or the role name is invalid, 4 if a field is missing, 14 if a field is not
    /// a string, 40415 if a field is unknown, and 73 if the database name is invalid.
    pub(crate) fn parse(value: ValueRef<'_>, database: &str) -> Result<Self> {
        let (role, database) = read("role", value, database)?;
        Ok(Self::new(role, database))
    }

    /// Reads an array of role names and removes duplicates. Fails with 2 if there are more than
    /// [`MAX_ROLES`].
    pub(crate) fn parse_list(array: ArrayRef<'_>, database: &str) -> Result<Vec<Self>> {
        list(array, |value| Self::parse(value, database))
    }

    /// Fails with error 2 or 73 if the name is not valid for a new role.
    pub(crate) fn check(&self) -> Result<()> {
        check("role", &self.role)?;
        names::check_database(&self.database)
    }

    /// Returns the `_id` of a role: `database.role`.
    pub(crate) fn id(&self) -> String {
        format!("{}.{}", self.database, self.role)
    }

    /// Returns the name as `{role, db}`.
    pub(crate) fn to_document(&self) -> Document {
        doc! { "role": self.role.as_str(), "db": self.database.as_str() }
    }

    /// Returns an array of `{role, db}`, the format of stored users and roles.
    pub(crate) fn list_to_value(names: &[Self]) -> Value {
        Value::from(names.iter().map(Self::to_document).collect::<Vec<_>>())
    }
}

impl UserName {
    /// Creates a name without checking it.
    pub(crate) fn new(user: &str, database: &str) -> Self {
        Self { user: user.to_owned(), database: database.to_owned() }
    }

    /// Reads a string, a user of `database`, or a document `{user, db}`, with the errors of
    /// [`RoleName::parse`].
    pub(crate) fn parse(value: ValueRef<'_>, database: &str) -> Result<Self> {
        let (user, database) = read("user", value, database)?;
        Ok(Self::new(user, database))
    }

    /// Reads an array of user names, as [`RoleName::parse_list`] does.
    pub(crate) fn parse_list(array: ArrayRef<'_>, database: &str) -> Result<Vec<Self>> {
        list(array, |value| Self::parse(value, database))
    }

    /// Fails with error 2 or 73 if the name is not valid for a new user.
    pub(crate) fn check(&self) -> Result<()> {
        check("user", &self.user)?;
        names::check_database(&self.database)
    }

    /// Returns the `_id` of a user: `database.user`.
    pub(crate) fn id(&self) -> String {
        format!("{}.{}", self.database, self.user)
    }

    /// Returns the name as `{user, db}`.
    pub(crate) fn to_document(&self) -> Document {
        doc! { "user": self.user.as_str(), "db": self.database.as_str() }
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.role, self.database)
    }
}

impl fmt::Display for UserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.user, self.database)
    }
}

/// Reads a name and its database; `field` is `role` or `user`.
fn read<'a>(field: &str, value: ValueRef<'a>, database: &'a str) -> Result<(&'a str, &'a str)> {
    let (name, database) = match value {
        ValueRef::String(name) => (name, database),
        ValueRef::Document(document) => read_document(field, document)?,
        _ => {
            let message = "User and role names must be either strings or objects";
            return Err(Error::new(BadValue, message));
        }
    };
    check(field, name)?;
    names::check_database(database)?;
    Ok((name, database))
}

fn read_document<'a>(field: &str, document: DocRef<'a>) -> Result<(&'a str, &'a str)> {
    let mut found = [None, None];
    for (name, value) in document.iter() {
        let place = if name == field { 0 } else { 1 };
        if place == 1 && name != "db" {
            let message = format!("BSON field '{field}.{name}' is an unknown field.");
            return Err(Error::new(40415, message));
        }
        let Some(text) = value.as_str() else {
            let message = format!(
                "\"{name}\" had the wrong type. Expected string, found {}",
                value.kind().name()
            );
            return Err(Error::new(TypeMismatch, message));
        };
        if let Some(slot) = found.get_mut(place) {
            slot.get_or_insert(text);
        }
    }
    let missing = |name: &str| Error::new(NoSuchKey, format!("Missing expected field \"{name}\""));
    let [name, database] = found;
    Ok((name.ok_or_else(|| missing(field))?, database.ok_or_else(|| missing("db"))?))
}

/// Checks the name of a role or a user: not empty, no NUL and not too long.
fn check(field: &str, name: &str) -> Result<()> {
    let what = if field == "role" { "Role" } else { "User" };
    let message = if name.is_empty() {
        format!("{what} name must be non-empty")
    } else if name.contains('\0') {
        format!("{what} name cannot contain NULLs")
    } else if MAX_ACCESS_NAME_BYTES < name.len() {
        format!("{what} name is longer than {MAX_ACCESS_NAME_BYTES} bytes")
    } else {
        return Ok(());
    };
    Err(Error::new(BadValue, message))
}

fn list<T: Clone + Eq + std::hash::Hash>(
    array: ArrayRef<'_>,
    parse: impl Fn(ValueRef<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for value in array.iter() {
        let name = parse(value)?;
        if seen.insert(name.clone()) {
            if MAX_ROLES <= all.len() {
                return Err(Error::new(BadValue, format!("a list of more than {MAX_ROLES} names")));
            }
            all.push(name);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use document::array;

    use super::*;
    use crate::errors::InvalidNamespace;

    #[test]
    fn names_are_strings_or_documents() {
        for (value, role, database) in [
            (Value::from("r"), "r", "x"),
            (doc! { "role": "r", "db": "y" }.into(), "r", "y"),
            (doc! { "db": "$external", "role": "a.b@c" }.into(), "a.b@c", "$external"),
        ] {
            let name = RoleName::parse(value.as_ref(), "x").unwrap();
            assert_eq!(name, RoleName::new(role, database));
            assert_eq!(name.to_string(), format!("{role}@{database}"));
            let written = Value::from(name.to_document());
            assert_eq!(RoleName::parse(written.as_ref(), "other").unwrap(), name);
        }
        let user = UserName::parse(Value::from("u").as_ref(), "x").unwrap();
        assert_eq!((user.to_string(), user.id()), ("u@x".to_owned(), "x.u".to_owned()));
        let written = Value::from(user.to_document());
        assert_eq!(UserName::parse(written.as_ref(), "other").unwrap(), user);
        assert!(RoleName::parse(written.as_ref(), "x").is_err());
    }

    #[test]
    fn wrong_names_are_refused() {
        for (value, code) in [
            (Value::from(1), BadValue),
            (Value::Null, BadValue),
            (Value::from(""), BadValue),
            (Value::from("a\0b"), BadValue),
            (Value::from("a".repeat(MAX_ACCESS_NAME_BYTES + 1)), BadValue),
            (doc! { "role": "r" }.into(), NoSuchKey),
            (doc! { "db": "x" }.into(), NoSuchKey),
            (doc! { "role": 1, "db": "x" }.into(), TypeMismatch),
            (doc! { "role": "r", "db": 1 }.into(), TypeMismatch),
            (doc! { "role": "r", "db": "x", "more": 1 }.into(), 40415),
            (doc! { "user": "r", "db": "x" }.into(), 40415),
            (doc! { "role": "r", "db": "" }.into(), InvalidNamespace),
            (doc! { "role": "r", "db": "a b" }.into(), InvalidNamespace),
        ] {
            let error = RoleName::parse(value.as_ref(), "x").unwrap_err();
            assert_eq!(error.code, code, "{value:?} {}", error.message);
        }
        assert_eq!(RoleName::new("", "x").check().unwrap_err().code, BadValue);
        assert_eq!(UserName::new("u", "").check().unwrap_err().code, InvalidNamespace);
        assert!(RoleName::new("r", "x").check().is_ok() && UserName::new("u", "x").check().is_ok());
    }

    #[test]
    fn lists_have_each_name_once() {
        let value = array!["b", "a", doc! { "role": "b", "db": "x" }, "b"];
        let list = |value: &Value| RoleName::parse_list(value.as_ref().as_array().unwrap(), "x");
        let names = list(&value).unwrap();
        assert_eq!(names, [RoleName::new("b", "x"), RoleName::new("a", "x")]);
        assert_eq!(list(&RoleName::list_to_value(&names)).unwrap(), names);
        let many =
            |count: usize| Value::Array((0..count).map(|at| at.to_string().into()).collect());
        assert_eq!(list(&many(MAX_ROLES)).unwrap().len(), MAX_ROLES);
        assert_eq!(list(&many(MAX_ROLES + 1)).unwrap_err().code, BadValue);
        assert!(list(&array![1]).is_err());
        let users = array!["u", "u"];
        let users = UserName::parse_list(users.as_ref().as_array().unwrap(), "x").unwrap();
        assert_eq!(users, [UserName::new("u", "x")]);
    }
}
