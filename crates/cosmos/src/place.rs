//! Where a resource is: the kinds and names of its link from the database down, as permissions
//! name it. Whether it is there, is found out elsewhere.

use engine::Store;

use crate::{
    containers,
    door::Door,
    link::{Link, Resource},
    rid::{Leaf, Rid},
};

/// A resource, or the feed of all of a kind, which has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(Vec<(Resource, String)>);

impl Place {
    /// What a request is about.
    pub(crate) fn of(link: &Link<'_>) -> Self {
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

    /// Reads the link of what a permission may be for: a database, a container, or something in a
    /// container. Nothing in it is encoded.
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
            let kind = kind.filter(|kind| kind.word() == word)?;
            let name = words.next().filter(|name| !name.is_empty())?;
            parts.push((kind, name.to_owned()));
        }
        Some(Self(parts))
    }

    /// The same with the names of database and container, which may stand in it as resource ids.
    pub(crate) fn by_names<S: Store>(mut self, door: &Door<S>) -> Self {
        if let [(Resource::Databases, database), rest @ ..] = self.0.as_mut_slice() {
            if let Some(found) = containers::database(&door.engine, database) {
                *database = found.name;
            }
            if let [(Resource::Containers, name), ..] = rest
                && let Ok(found) = containers::find(&door.engine, &door.containers, database, name)
            {
                name.clone_from(&found.name);
            }
        }
        self
    }

    /// Whether it is an item that only a partition key tells from others: one by its name, in a
    /// container that has a partition key.
    pub(crate) fn needs_partition<S: Store>(&self, door: &Door<S>) -> bool {
        let [(_, database), (_, container), (Resource::Documents, name)] = self.0.as_slice() else {
            return false;
        };
        let by_rid = matches!(Rid::parse(name), Some(Rid::Leaf { leaf: Leaf::Item, .. }));
        let found = containers::find(&door.engine, &door.containers, database, container);
        !by_rid && found.is_ok_and(|found| !found.key.paths().is_empty())
    }

    /// Whether another place is this one or lies in it.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_permissions_are_for() {
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
            assert_eq!(Place::parse(text).is_some(), good, "{text}");
        }
        assert_eq!(Place::parse(&"dbs/".repeat(5000)), None);
    }

    #[test]
    fn a_place_holds_itself_and_what_lies_in_it() {
        for (place, path, want) in [
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
            let other = Place::of(&Link::parse(path).unwrap());
            assert_eq!(Place::parse(place).unwrap().holds(&other), want, "{place} {path}");
        }
    }
}
