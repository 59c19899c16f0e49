//! Which database a request is about. In a cluster of several shards each database has a home, and whoever
//! is its server answers. Where that is, is not known here.

use crate::{
    link::{Link, Resource},
    rid::Rid,
};

/// What the home of a request's answer depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// Nothing: any server answers.
    Any,
    /// The name of a database.
    Named(String),
    /// The number of a database or an offer, out of a resource id: one of those that the server gave
    /// ([`Settings::shard`](crate::Settings::shard)).
    Numbered(u32),
}

impl Home {
    /// Of what a path means.
    pub(crate) fn of(link: &Link) -> Self {
        let [database, _] = &link.owners;
        match link.kind {
            Resource::Account | Resource::Addresses | Resource::Certificate => Self::Any,
            Resource::Offers => match link.name.as_deref().and_then(Rid::parse) {
                Some(Rid::Database(number)) => Self::Numbered(number),
                _ => Self::Any,
            },
            Resource::Databases => link.name.as_deref().map_or(Self::Any, Self::of_database),
            _ => Self::of_database(database),
        }
    }

    /// Of a database by its name or its resource id. No name has the form of an id that may be given.
    pub(crate) fn of_database(text: &str) -> Self {
        match Rid::parse(text) {
            Some(rid @ Rid::Database(number)) if rid.may_be_given() => Self::Numbered(number),
            _ => Self::Named(text.to_owned()),
        }
    }

    /// Of what a path means; any where it means nothing.
    pub fn of_path(path: &str) -> Self {
        Link::parse(path).map_or(Self::Any, |link| Self::of(&link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_of_paths() {
        let named = |name: &str| Home::Named(name.to_owned());
        for (path, home) in [
            ("/", Home::Any),
            ("/dbs", Home::Any),
            ("/dbs/shop", named("shop")),
            ("/dbs/shop/colls", named("shop")),
            ("/dbs/a%20b/colls/c/docs/1", named("a b")),
            ("/dbs/shop/users/u/permissions", named("shop")),
            ("/dbs/AAAABw==", Home::Numbered(7)),
            ("/dbs/AAAABw==/colls/AAAAB4AAAAI=/docs", Home::Numbered(7)),
            // Looks like an id, and is larger than any that is given.
            ("/dbs/dGVzdA==", named("dGVzdA==")),
            ("/offers", Home::Any),
            ("/offers/AAAACQ==", Home::Numbered(9)),
            ("/offers/nothing", Home::Any),
            ("//addresses/", Home::Any),
            ("/_explorer/emulator.pem", Home::Any),
            ("/nothing", Home::Any),
        ] {
            assert_eq!(Home::of_path(path), home, "{path}");
        }
    }
}
