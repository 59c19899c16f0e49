//! Resources: the objects of a privilege, and the targets of a command. The actions on a resource
//! are in `privilege`.
//!
//! MongoDB's rules, from its manual and its behavior:
//!
//! ```text
//! resource                       covers
//! {anyResource: true}            everything
//! {cluster: true}                the cluster
//! {db: "", collection: ""}       databases and their collections, but no system.* and nothing of
//!                                `local` and `config`
//! {db: "x", collection: ""}      database x and its collections, but no system.*
//! {db: "", collection: "c"}      collection c of every database, system.* too
//! {db: "x", collection: "c"}     collection c of x, system.* too
//! ```

use document::{DocRef, Document, ValueRef, doc};

use crate::{
    errors::{Error, FailedToParse, Result, TypeMismatch},
    names,
};

/// MongoDB's internal databases. A resource without a database name covers all databases except
/// these.
pub(super) const OWN_DATABASES: [&str; 2] = ["config", "local"];

/// Returns whether a name is that of a system collection. A privilege on all collections does not
/// cover system collections. Only `system.js` can exist here, but a resource may name any of them.
fn is_system(collection: &str) -> bool {
    collection.starts_with("system.")
}

/// The object of a privilege. Lists of privileges are sorted in the order of the variants.
#[expect(clippy::enum_variant_names, reason = "the names are MongoDB's")]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Resource {
    /// Every resource, including the server.
    AnyResource,
    /// The server as a whole.
    Cluster,
    /// Databases and collections; an empty name means any.
    Namespace {
        /// A database, `""` for any.
        database: String,
        /// A collection, `""` for any that is not a system collection.
        collection: String,
    },
}

/// A [`Resource`] with borrowed names, for lookups. Keys are ordered as resources are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key<'a> {
    AnyResource,
    Cluster,
    Namespace(&'a str, &'a str),
}

impl Key<'_> {
    /// Number of keys without a name; these sort before all others.
    pub(super) const BROAD: usize = 3;

    /// Returns whether the key has no name. Broad keys sort before all others.
    pub(super) fn is_broad(self) -> bool {
        match self {
            Self::AnyResource | Self::Cluster => true,
            Self::Namespace(database, collection) => database.is_empty() && collection.is_empty(),
        }
    }
}

/// The object that a command accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// The server as a whole.
    Cluster,
    /// A database itself, such as its list of collections or its users.
    Database(&'a str),
    /// A collection: its database and its name.
    Collection(&'a str, &'a str),
}

impl<'a> Target<'a> {
    /// Returns the resources that cover the target, each once.
    pub(super) fn covering(self) -> impl Iterator<Item = Key<'a>> {
        let (any, database, every, exact) = match self {
            Self::Cluster => (None, None, None, Some(Key::Cluster)),
            Self::Database(database) => (any_database(database), of_all(database), None, None),
            Self::Collection(database, collection) => {
                let named = (!collection.is_empty()).then_some(Key::Namespace("", collection));
                let exact = (!collection.is_empty() && !database.is_empty())
                    .then_some(Key::Namespace(database, collection));
                if is_system(collection) {
                    (None, None, named, exact)
                } else {
                    (any_database(database), of_all(database), named, exact)
                }
            }
        };
        [Some(Key::AnyResource), any, database, every, exact].into_iter().flatten()
    }
}

/// Returns the resource that covers all databases except the internal ones; `None` if `database` is
/// internal.
fn any_database(database: &str) -> Option<Key<'static>> {
    (!OWN_DATABASES.contains(&database)).then_some(Key::Namespace("", ""))
}

/// Returns the resource of all collections of one database; `None` if the name is empty.
fn of_all(database: &str) -> Option<Key<'_>> {
    (!database.is_empty()).then_some(Key::Namespace(database, ""))
}

impl Resource {
    /// Creates a resource of databases and collections; `""` means any.
    pub(crate) fn namespace(database: &str, collection: &str) -> Self {
        Self::Namespace { database: database.to_owned(), collection: collection.to_owned() }
    }

    pub(super) fn key(&self) -> Key<'_> {
        match self {
            Self::AnyResource => Key::AnyResource,
            Self::Cluster => Key::Cluster,
            Self::Namespace { database, collection } => Key::Namespace(database, collection),
        }
    }

    /// Returns whether a privilege on this resource covers the target.
    #[cfg(test)]
    pub(crate) fn covers(&self, target: Target<'_>) -> bool {
        target.covering().any(|key| key == self.key())
    }

    /// Returns whether the resource covers the database itself or a collection in it.
    pub(crate) fn concerns(&self, database: &str) -> bool {
        match self.key() {
            Key::AnyResource => true,
            Key::Cluster => false,
            Key::Namespace("", "") => any_database(database).is_some(),
            Key::Namespace(of, _) => of.is_empty() || of == database,
        }
    }

    /// Returns the resource's database; `None` if it covers several databases or the cluster.
    pub(crate) fn database(&self) -> Option<&str> {
        match self {
            Self::Namespace { database, .. } if !database.is_empty() => Some(database),
            _ => None,
        }
    }

    /// Reads `{db, collection}`, `{cluster: true}` or `{anyResource: true}`. Fails with 9 if the
    /// fields are combined in any other way, 14 if a field has a wrong type, and 73 if the name of
    /// the database or collection is invalid.
    pub(crate) fn parse(document: DocRef<'_>) -> Result<Self> {
        let (mut database, mut collection) = (None, None);
        let (mut cluster, mut any_resource) = (None, None);
        for (name, value) in document.iter() {
            match name {
                "db" => database = Some(string(name, value)?),
                "collection" => collection = Some(string(name, value)?),
                "cluster" => cluster = Some(flag(name, value)?),
                "anyResource" => any_resource = Some(flag(name, value)?),
                _ => {
                    let message = format!("BSON field 'resource.{name}' is an unknown field.");
                    return Err(Error::new(40415, message));
                }
            }
        }
        match (database, collection, cluster, any_resource) {
            (Some(database), Some(collection), None, None) => {
                check_namespace(database, collection)?;
                Ok(Self::namespace(database, collection))
            }
            (None, None, Some(true), None) => Ok(Self::Cluster),
            (None, None, None, Some(true)) => Ok(Self::AnyResource),
            (None, None, Some(false), None) => {
                Err(Error::new(FailedToParse, "cluster must be true when specified"))
            }
            (None, None, None, Some(false)) => {
                Err(Error::new(FailedToParse, "anyResource must be true when specified"))
            }
            _ => Err(Error::new(
                FailedToParse,
                "resource must have exactly db and collection set, or have only cluster set  \
                 or have only anyResource set",
            )),
        }
    }

    /// Returns the resource in the form that [`Resource::parse`] reads.
    pub(crate) fn to_document(&self) -> Document {
        match self {
            Self::AnyResource => doc! { "anyResource": true },
            Self::Cluster => doc! { "cluster": true },
            Self::Namespace { database, collection } => {
                doc! { "db": database.as_str(), "collection": collection.as_str() }
            }
        }
    }
}

/// Checks the names of a resource: each is empty or valid for a command.
fn check_namespace(database: &str, collection: &str) -> Result<()> {
    if !database.is_empty() {
        names::check_database(database)?;
    }
    if !collection.is_empty() {
        let of = if database.is_empty() { "any" } else { database };
        names::parse_collection(of, collection)?;
    }
    if engine::limits::MAX_NAMESPACE_BYTES < database.len() + collection.len() + 1 {
        let message = format!(
            "Fully qualified namespace is too long. Max: {}",
            engine::limits::MAX_NAMESPACE_BYTES
        );
        return Err(Error::new(crate::errors::InvalidNamespace, message));
    }
    Ok(())
}

fn string<'a>(name: &str, value: ValueRef<'a>) -> Result<&'a str> {
    value.as_str().ok_or_else(|| wrong_type(name, value, "string"))
}

fn flag(name: &str, value: ValueRef<'_>) -> Result<bool> {
    value.as_bool().ok_or_else(|| wrong_type(name, value, "bool"))
}

fn wrong_type(name: &str, value: ValueRef<'_>, expected: &str) -> Error {
    let message = format!(
        "BSON field 'resource.{name}' is the wrong type '{}', expected type '{expected}'",
        value.kind().name()
    );
    Error::new(TypeMismatch, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_cover_what_the_manual_says() {
        const CLUSTER: Target<'_> = Target::Cluster;
        let any = || Resource::AnyResource;
        let of = Resource::namespace;
        let (database, collection) = (Target::Database, Target::Collection);
        for (resource, target, expected) in [
            (any(), CLUSTER, true),
            (any(), database("local"), true),
            (any(), collection("config", "system.x"), true),
            (Resource::Cluster, CLUSTER, true),
            (Resource::Cluster, database("x"), false),
            (Resource::Cluster, collection("x", "c"), false),
            (of("", ""), CLUSTER, false),
            (of("", ""), database("x"), true),
            (of("", ""), database("admin"), true),
            (of("", ""), database("local"), false),
            (of("", ""), database("config"), false),
            (of("", ""), collection("x", "c"), true),
            (of("", ""), collection("x", "system.js"), false),
            (of("", ""), collection("x", "systems"), true),
            (of("", ""), collection("local", "c"), false),
            (of("", ""), collection("config", "c"), false),
            (of("x", ""), database("x"), true),
            (of("x", ""), database("y"), false),
            (of("x", ""), collection("x", "c"), true),
            (of("x", ""), collection("x", "system.js"), false),
            (of("x", ""), collection("y", "c"), false),
            (of("local", ""), collection("local", "c"), true),
            (of("", "c"), database("x"), false),
            (of("", "c"), collection("x", "c"), true),
            (of("", "c"), collection("config", "c"), true),
            (of("", "c"), collection("x", "d"), false),
            (of("", "system.js"), collection("x", "system.js"), true),
            (of("x", "c"), database("x"), false),
            (of("x", "c"), collection("x", "c"), true),
            (of("x", "c"), collection("x", "cc"), false),
            (of("x", "c"), collection("y", "c"), false),
            (of("x", "system.js"), collection("x", "system.js"), true),
            // An empty name in a target means no name, not "any".
            (of("", "c"), collection("", "c"), true),
            (of("x", ""), database(""), false),
            (of("x", "c"), collection("x", ""), false),
        ] {
            assert_eq!(resource.covers(target), expected, "{resource:?} {target:?}");
        }
    }

    #[test]
    fn a_target_names_each_resource_once() {
        for target in [
            Target::Cluster,
            Target::Database("x"),
            Target::Database(""),
            Target::Collection("x", "c"),
            Target::Collection("", "c"),
            Target::Collection("x", ""),
            Target::Collection("", ""),
            Target::Collection("x", "system.js"),
        ] {
            let mut keys: Vec<_> = target.covering().collect();
            let count = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), count, "{target:?}");
        }
    }

    #[test]
    fn broad_keys_come_first() {
        let named = [("", "a"), ("a", ""), ("a", "a")].map(|(of, name)| Key::Namespace(of, name));
        let broad = [Key::AnyResource, Key::Cluster, Key::Namespace("", "")];
        assert_eq!(broad.len(), Key::BROAD);
        assert!(broad.into_iter().all(Key::is_broad));
        for key in named {
            assert!(!key.is_broad());
            assert!(broad.iter().all(|before| *before < key));
        }
    }

    #[test]
    fn a_resource_concerns_databases() {
        for (resource, database, expected) in [
            (Resource::AnyResource, "local", true),
            (Resource::Cluster, "x", false),
            (Resource::namespace("", ""), "x", true),
            (Resource::namespace("", ""), "local", false),
            (Resource::namespace("", "c"), "local", true),
            (Resource::namespace("x", ""), "x", true),
            (Resource::namespace("x", "c"), "x", true),
            (Resource::namespace("x", "c"), "y", false),
        ] {
            assert_eq!(resource.concerns(database), expected, "{resource:?} {database}");
        }
        assert_eq!(Resource::namespace("x", "c").database(), Some("x"));
        assert_eq!(Resource::namespace("", "c").database(), None);
        assert_eq!(Resource::Cluster.database(), None);
    }

    #[test]
    fn documents_are_read_or_refused() {
        for resource in [
            Resource::AnyResource,
            Resource::Cluster,
            Resource::namespace("", ""),
            Resource::namespace("x", ""),
            Resource::namespace("", "system.js"),
            Resource::namespace("x", "c.d"),
        ] {
            let document = resource.to_document();
            assert_eq!(Resource::parse(DocRef::Tree(&document)).unwrap(), resource);
        }
        for (document, code) in [
            (doc! {}, FailedToParse),
            (doc! { "db": "x" }, FailedToParse),
            (doc! { "collection": "x" }, FailedToParse),
            (doc! { "cluster": false }, FailedToParse),
            (doc! { "anyResource": false }, FailedToParse),
            (doc! { "cluster": true, "anyResource": true }, FailedToParse),
            (doc! { "cluster": true, "db": "", "collection": "" }, FailedToParse),
            (doc! { "db": 1, "collection": "c" }, TypeMismatch),
            (doc! { "cluster": 1 }, TypeMismatch),
            (doc! { "db": "x", "collection": "c", "more": 1 }, 40415),
            (doc! { "db": "a b", "collection": "c" }, crate::errors::InvalidNamespace),
            (doc! { "db": "x", "collection": "a\0b" }, crate::errors::InvalidNamespace),
            (doc! { "db": "x", "collection": "c".repeat(5000) }, crate::errors::InvalidNamespace),
        ] {
            let error = Resource::parse(DocRef::Tree(&document)).unwrap_err();
            assert_eq!(error.code, code, "{document:?}");
        }
    }
}
