//! Resource paths: kind and name of a resource and of its parents, from the database down.
//! Permissions use them. The resource need not exist.

use std::fmt;

use engine::Engine;

use crate::{
    catalog::{self, Containers},
    link::{Link, Resource},
    rid::{Leaf, Rid},
};

/// The path of a resource: kinds and names from the database down. In the path of a feed (a list of
/// resources) the last name is empty. A permission on a parent of the feed therefore covers the
/// feed, and one on a resource in the feed does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourcePath(Vec<(Resource, String)>);

impl fmt::Display for ResourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("/");
        }
        for (at, (kind, name)) in self.0.iter().enumerate() {
            let slash = if at == 0 { "" } else { "/" };
            write!(f, "{slash}{}", kind.path_word())?;
            if !name.is_empty() {
                write!(f, "/{name}")?;
            }
        }
        Ok(())
    }
}

impl ResourcePath {
    /// Returns the path of the account, the root of all paths.
    pub(crate) fn account() -> Self {
        Self(Vec::new())
    }

    /// Returns whether the path denotes a resource in a container.
    pub(crate) fn is_in_container(&self) -> bool {
        2 < self.0.len()
    }

    /// Returns the path of a request's resource.
    pub(crate) fn of_link(link: &Link) -> Self {
        let [database, owner] = &link.owners;
        let mut parts = Vec::with_capacity(3);
        if !database.is_empty() {
            parts.push((Resource::Databases, database.to_string()));
        }
        if !owner.is_empty() {
            let of_user = link.kind == Resource::Permissions;
            let kind = if of_user { Resource::Users } else { Resource::Containers };
            parts.push((kind, owner.to_string()));
        }
        parts.push((link.kind, link.name.as_deref().unwrap_or_default().to_owned()));
        Self(parts)
    }

    /// Parses an unencoded link that a permission may refer to: a database, a container, or a
    /// resource in a container.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.trim_matches('/').split('/');
        let mut parts: Vec<(Resource, String)> = Vec::with_capacity(3);
        while let Some(word) = words.next() {
            let kind = match parts.len() {
                0 => Some(Resource::Databases),
                1 => Some(Resource::Containers),
                2 => Resource::in_container(word),
                _ => None,
            };
            let kind = kind.filter(|kind| kind.path_word() == word)?;
            let name = words.next().filter(|name| !name.is_empty())?;
            parts.push((kind, name.to_owned()));
        }
        Some(Self(parts))
    }

    /// Replaces the resource ids of database and container by their names. A resource id that does
    /// not exist is left unchanged.
    pub(crate) fn resolve_names(mut self, engine: &Engine, known: &Containers) -> Self {
        if let [(Resource::Databases, database), rest @ ..] = self.0.as_mut_slice() {
            if let Some(found) = catalog::find_database(engine, database) {
                *database = found.name;
            }
            if let [(Resource::Containers, name), ..] = rest
                && let Ok(found) = catalog::find_container(engine, known, database, name)
            {
                name.clone_from(&found.name);
            }
        }
        self
    }

    /// Returns whether the path identifies an item only together with a partition key. True if the
    /// container has a partition key and the path has the item's id, which is unique only within a
    /// logical partition, and not its resource id.
    pub(crate) fn needs_partition(&self, engine: &Engine, known: &Containers) -> bool {
        let [(_, database), (_, container), (Resource::Documents, name)] = self.0.as_slice() else {
            return false;
        };
        let by_rid = matches!(Rid::parse(name), Some(Rid::Leaf { leaf: Leaf::Item, .. }));
        let found = catalog::find_container(engine, known, database, container);
        !by_rid && found.is_ok_and(|found| !found.key.paths().is_empty())
    }

    /// Returns whether this is the path of an item, and `other` that of the item's container or of
    /// the container's partition key ranges. SDKs read both before they read an item.
    pub(crate) fn is_item_of(&self, other: &Self) -> bool {
        let [database, container, (Resource::Documents, _)] = self.0.as_slice() else {
            return false;
        };
        match other.0.as_slice() {
            [of, named] | [of, named, (Resource::Ranges, _)] => {
                of == database && named == container
            }
            _ => false,
        }
    }

    /// Returns whether another path equals this one or lies below it.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_permissions_are_for() {
        for (text, good) in [
            ("dbs/d", true),
            ("/dbs/d/", true),
            ("dbs/d/colls/c", true),
            ("dbs/d/colls/a b%20", true),
            ("dbs/d/colls/c/docs/1", true),
            ("dbs/d/colls/c/udfs/f/", true),
            ("", false),
            ("///", false),
            ("x", false),
            ("dbs", false),
            ("dbs/", false),
            ("dbs//colls/c", false),
            ("dbs/d/colls", false),
            ("dbs/d/colls/c/docs", false),
            ("dbs/d/x/y", false),
            ("dbs/d/users/u", false),
            ("dbs/d/dbs/e", false),
            ("colls/c", false),
            ("dbs/d/colls/c/docs/1/docs/2", false),
        ] {
            assert_eq!(ResourcePath::parse(text).is_some(), good, "{text}");
        }
        assert_eq!(ResourcePath::parse(&"dbs/".repeat(5000)), None);
    }

    #[test]
    fn a_path_contains_itself_and_what_lies_below_it() {
        for (permission, path, want) in [
            ("dbs/d/colls/c", "/dbs/d/colls/c", true),
            ("dbs/d/colls/c", "/dbs/d/colls/c/docs", true),
            ("dbs/d/colls/c", "/dbs/d/colls/c/docs/1", true),
            ("dbs/d/colls/c", "/dbs/d/colls/c/operations/partitionkeydelete", true),
            ("dbs/d/colls/c", "/dbs/d/colls/cc", false),
            ("dbs/d/colls/c", "/dbs/d/colls/C", false),
            ("dbs/d/colls/c", "/dbs/d/colls", false),
            ("dbs/d/colls/c", "/dbs/d", false),
            ("dbs/d/colls/c", "/dbs/d/users/c", false),
            ("dbs/d/colls/c", "/dbs/d/users/c/permissions/p", false),
            ("dbs/d", "/dbs/d/colls", true),
            ("dbs/d", "/dbs", false),
            ("dbs/d", "/", false),
            ("dbs/d/colls/c/docs/1", "/dbs/d/colls/c/docs/1", true),
            ("dbs/d/colls/c/docs/1", "/dbs/d/colls/c/docs/11", false),
            ("dbs/d/colls/c/docs/1", "/dbs/d/colls/c/docs", false),
            ("dbs/d/colls/c/docs/1", "/dbs/d/colls/c/udfs/1", false),
            ("dbs/d/colls/c/docs/1", "/dbs/d/colls/c/docs/1%2F..%2F2", false),
        ] {
            let other = ResourcePath::of_link(&Link::parse(path).unwrap());
            assert_eq!(
                ResourcePath::parse(permission).unwrap().contains(&other),
                want,
                "{permission} {path}"
            );
        }
    }
}
