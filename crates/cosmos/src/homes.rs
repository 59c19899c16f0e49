//! Determines the database that a request is about. In a cluster with several shards each database
//! belongs to one shard, whose server answers. The caller finds this server.

use document::json;
use http::{HeaderMap, Method, Uri};

use crate::{
    headers::asks_query,
    limits::MAX_DEPTH,
    link::{Link, Resource},
    rid::Rid,
};

/// The shard that answers a request, as far as the request determines it: by a database's name or
/// by a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// Any shard can answer the request.
    Any,
    /// The shard that stores the database with this name answers.
    Named(String),
    /// Number of a database or offer, from a resource id. The shard that assigned the number
    /// answers ([`Settings::shard`](crate::Settings::shard)).
    Numbered(u32),
}

impl Home {
    /// Returns the shard that answers requests about a resource path.
    pub(crate) fn of(link: &Link) -> Self {
        let [database, _] = &link.owners;
        match link.kind {
            Resource::Account | Resource::Certificate => Self::Any,
            Resource::Addresses if database.is_empty() => Self::Any,
            Resource::Offers => match link.name.as_deref().and_then(Rid::parse) {
                Some(Rid::Database(number)) => Self::Numbered(number),
                _ => Self::Any,
            },
            Resource::Databases => link.name.as_deref().map_or(Self::Any, Self::of_database),
            _ => Self::of_database(database),
        }
    }

    /// Returns the shard that answers requests about a database, given its name or resource id. A
    /// text in the form of an id that the server may have assigned is an id, since it is not
    /// permitted as a name.
    pub(crate) fn of_database(text: &str) -> Self {
        match Rid::parse(text) {
            Some(rid @ Rid::Database(number)) if rid.may_be_given() => Self::Numbered(number),
            _ => Self::Named(text.to_owned()),
        }
    }

    /// Returns whether the request creates a database, whose name is then in the request's body.
    pub(crate) fn is_in_body(method: &Method, headers: &HeaderMap, link: &Link) -> bool {
        let all = link.kind == Resource::Databases && link.name.is_none();
        all && method == Method::POST && !asks_query(headers)
    }

    /// Returns the shard on which a database is to be created, given the body of the request.
    /// Errors in the body are reported by the server that answers.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        let made = json::parse_document(body, MAX_DEPTH).ok();
        let name = made.as_ref().and_then(|made| made.get("id")?.as_ref().as_str());
        name.map_or(Self::Any, Self::of_database)
    }

    /// Returns which shard answers a request; `Any` if its path is invalid.
    pub fn of_request(method: &Method, headers: &HeaderMap, uri: &Uri, body: &[u8]) -> Self {
        match Link::of_target(uri) {
            Ok(link) if Self::is_in_body(method, headers, &link) => Self::of_body(body),
            Ok(link) => Self::of(&link),
            Err(_) => Self::Any,
        }
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
            // It has the form of a resource id, but its number exceeds all numbers that are
            // assigned.
            ("/dbs/dGVzdA==", named("dGVzdA==")),
            ("/offers", Home::Any),
            ("/offers/AAAACQ==", Home::Numbered(9)),
            ("/offers/nothing", Home::Any),
            ("//addresses/", Home::Any),
            ("/_explorer/emulator.pem", Home::Any),
            ("/nothing", Home::Any),
        ] {
            let found = Link::parse(path).map_or(Home::Any, |link| Home::of(&link));
            assert_eq!(found, home, "{path}");
        }
        let (uri, mut headers) = ("/dbs".parse().unwrap(), HeaderMap::new());
        let made = |body: &[u8]| Home::of_request(&Method::POST, &headers, &uri, body);
        assert_eq!(made(br#"{"id": "shop"}"#), named("shop"));
        assert_eq!(made(br#"{"id": 5}"#), Home::Any);
        assert_eq!(made(b"{"), Home::Any);
        headers.insert("content-type", "application/query+json".parse().unwrap());
        let asked = Home::of_request(&Method::POST, &headers, &uri, br#"{"id": "shop"}"#);
        assert_eq!(asked, Home::Any);
    }
}
