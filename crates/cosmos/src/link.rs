//! Links: the resource that a path denotes, and the forms of the path that a client may have
//! signed. Whether the resource exists, and whether a part of the path is a name or a resource id,
//! is determined later.
//!
//! ```text
//! /dbs/{db}                                        a database
//! /dbs/{db}/colls/{c}                              a container
//! /dbs/{db}/colls/{c}/docs/{id}                    an item; also pkranges, sprocs, triggers,
//!                                                  udfs and conflicts in place of docs
//! /dbs/{db}/colls/{c}/operations/partitionkeydelete
//! /dbs/{db}/users/{u}/permissions/{p}
//! /dbs/{db}/clientencryptionkeys/{k}
//! /offers/{id}    //addresses/    /_explorer/emulator.pem    /
//! ```
//!
//! A path without its last name denotes the feed (the list) of these resources. Leading and
//! trailing slashes are ignored, because clients build links from `_self`, which ends with a slash.

use std::borrow::Cow;

use http::Uri;
use percent_encoding::percent_decode_str;

use crate::{
    failure::{Failure, Fault, Result},
    rid::Rid,
};

/// Kinds of resources in paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    Account,
    Databases,
    Containers,
    /// Items, which the protocol calls documents.
    Documents,
    Ranges,
    Procedures,
    Triggers,
    Udfs,
    /// Conflicts between regions; there are never any.
    Conflicts,
    Users,
    Permissions,
    ClientKeys,
    Offers,
    /// The target of the operation that deletes all items with a partition key; not a stored
    /// resource.
    PartitionKey,
    /// Addresses of replicas, which clients in direct mode request.
    Addresses,
    Certificate,
}

impl Resource {
    /// Returns the segment name in paths and signatures; empty if the resource has none.
    pub(crate) const fn path_word(self) -> &'static str {
        match self {
            Self::Account | Self::Certificate => "",
            Self::Databases => "dbs",
            Self::Containers => "colls",
            Self::Documents => "docs",
            Self::Ranges => "pkranges",
            Self::Procedures => "sprocs",
            Self::Triggers => "triggers",
            Self::Udfs => "udfs",
            Self::Conflicts => "conflicts",
            Self::Users => "users",
            Self::Permissions => "permissions",
            Self::ClientKeys => "clientencryptionkeys",
            Self::Offers => "offers",
            Self::PartitionKey => "partitionkey",
            Self::Addresses => "addresses",
        }
    }

    /// Returns the kind of the resources that a path segment below a container denotes.
    pub(crate) fn in_container(word: &str) -> Option<Self> {
        let all = [
            Self::Documents,
            Self::Ranges,
            Self::Procedures,
            Self::Triggers,
            Self::Udfs,
            Self::Conflicts,
        ];
        all.into_iter().find(|kind| kind.path_word() == word)
    }
}

/// A parsed path. Names are percent-decoded; `signed` is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) kind: Resource,
    /// Names or resource ids of the parents: the database, then the container or user. Empty if the
    /// path has none.
    pub(crate) owners: [String; 2],
    /// Name of the resource itself; `None` for a feed.
    pub(crate) name: Option<String>,
    /// The link that the request's signature covers, still percent-encoded: the link of the
    /// resource or, for a feed, of its parent.
    signed: String,
}

impl Link {
    /// Parses the target of a request. In the path of an item a `?` is part of the id, since the
    /// .NET SDK sends and signs ids with an unescaped `?`.
    pub(crate) fn of_target(uri: &Uri) -> Result<Self> {
        let link = Self::parse(uri.path())?;
        match uri.query() {
            Some(query) if link.kind == Resource::Documents && link.name.is_some() => {
                Self::parse(&format!("{}?{query}", uri.path()))
            }
            _ => Ok(link),
        }
    }

    /// Parses a path without its query string. An unknown path fails with 404 before the signature
    /// is checked: the signature covers the resource's kind, which such a path does not determine.
    pub(crate) fn parse(path: &str) -> Result<Self> {
        let link = path.trim_matches('/');
        if link.is_empty() {
            return Self::new(Resource::Account, [None, None], None, "");
        }
        if link == "_explorer/emulator.pem" {
            return Self::new(Resource::Certificate, [None, None], None, "");
        }
        let mut parts: [&str; 7] = [""; 7];
        let mut count = 0;
        for part in link.split('/') {
            *parts.get_mut(count).ok_or_else(unknown_path)? = part;
            count += 1;
        }
        // A feed's signature covers the link of its parent.
        let owner = |word: &str| link.strip_suffix(word).unwrap_or(link).trim_end_matches('/');
        let [first, db, second, owned, third, leaf, _] = parts;
        let named = not_empty;
        let kind = match (first, count) {
            ("dbs", 1..=2) => Resource::Databases,
            ("offers", 1..=2) => Resource::Offers,
            // Some clients use the offer's `_self` link, `offers/{id}`, as its id.
            ("offers", 3) if db == "offers" => return Err(no_offer(second)),
            ("addresses", 1) => Resource::Addresses,
            ("dbs", 3..=4) if second == "colls" => Resource::Containers,
            ("dbs", 3..=4) if second == "users" => Resource::Users,
            ("dbs", 3..=4) if second == "clientencryptionkeys" => Resource::ClientKeys,
            ("dbs", 5..=6) if second == "users" && third == "permissions" => Resource::Permissions,
            ("dbs", 6)
                if second == "colls" && (third, leaf) == ("operations", "partitionkeydelete") =>
            {
                Resource::PartitionKey
            }
            ("dbs", 5..=6) if second == "colls" => {
                Resource::in_container(third).ok_or_else(unknown_path)?
            }
            _ => return Err(unknown_path()),
        };
        match (kind, count) {
            (Resource::PartitionKey, _) => {
                let signed = owner("operations/partitionkeydelete");
                Self::new(kind, [named(db), named(owned)], None, signed)
            }
            (_, 1) => Self::new(kind, [None, None], None, ""),
            (_, 2) => Self::new(kind, [None, None], named(db), link),
            (_, 3) => Self::new(kind, [named(db), None], None, owner(second)),
            (_, 4) => Self::new(kind, [named(db), None], named(owned), link),
            (_, 5) => Self::new(kind, [named(db), named(owned)], None, owner(third)),
            _ => Self::new(kind, [named(db), named(owned)], named(leaf), link),
        }
    }

    /// Decodes the parts of a link.
    fn new(
        kind: Resource,
        [database, owner]: [Option<&str>; 2],
        name: Option<&str>,
        signed: &str,
    ) -> Result<Self> {
        let decoded = |part: Option<&str>| match part {
            None => Ok(String::new()),
            Some(part) => decode_part(part).map(Cow::into_owned),
        };
        let owners = [decoded(database)?, decoded(owner)?];
        let name = name.map(|name| decode_part(name).map(Cow::into_owned)).transpose()?;
        Ok(Self { kind, owners, name, signed: signed.to_owned() })
    }

    /// Returns the texts that a client may have signed: the link as sent, the decoded link, and the
    /// resource id at the end of the link in lower case. SDKs and their versions differ, so a
    /// signature of any of these texts is accepted.
    pub(crate) fn signed_forms(&self) -> [Option<Cow<'_, str>>; 3] {
        let decoded = decode_part(&self.signed).ok().filter(|text| *text != self.signed);
        // Uses the decoded form, since lower-casing would change percent escapes too.
        let whole = decoded.as_deref().unwrap_or(&self.signed);
        let last = whole.rsplit('/').next().unwrap_or_default();
        let is_id = Rid::parse(last).is_some() || self.kind == Resource::Offers;
        let last = is_id.then(|| Cow::Owned(last.to_ascii_lowercase()));
        [Some(Cow::Borrowed(&self.signed)), decoded, last]
    }
}

/// Returns a path segment, or `None` if it is empty.
fn not_empty(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty())
}

/// Percent-decodes a path segment; the result must be UTF-8.
fn decode_part(part: &str) -> Result<Cow<'_, str>> {
    if !part.contains('%') {
        return Ok(Cow::Borrowed(part));
    }
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.map_err(|_| Failure::bad_request("The request's path is not UTF-8."))
}

/// Returns the failure for a path of the form `offers/offers/{id}`.
fn no_offer(id: &str) -> Failure {
    Failure::bad_request(format!("'offers/{id}' is not the id of an offer."))
}

/// Returns the failure for a path that denotes no known resource.
fn unknown_path() -> Failure {
    Failure::new(Fault::NotFound, "No resource has this path.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> String {
        match Link::parse(path) {
            Ok(link) => {
                let [db, owner] = &link.owners;
                format!("{:?} {db},{owner} {:?} {}", link.kind, link.name, link.signed)
            }
            Err(failure) => failure.fault.status().to_string(),
        }
    }

    #[test]
    fn paths_mean_resources() {
        for (path, want) in [
            ("/", "Account , None "),
            ("", "Account , None "),
            ("/dbs", "Databases , None "),
            ("/dbs/", "Databases , None "),
            ("/dbs/d/", "Databases , Some(\"d\") dbs/d"),
            ("/dbs/d/colls", "Containers d, None dbs/d"),
            ("/dbs/d/colls/c", "Containers d, Some(\"c\") dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs/", "Documents d,c None dbs/d/colls/c"),
            ("/dbs/d/colls/c/docs/1/", "Documents d,c Some(\"1\") dbs/d/colls/c/docs/1"),
            (
                "/dbs/d/colls/c/docs/a%20b%25",
                "Documents d,c Some(\"a b%\") dbs/d/colls/c/docs/a%20b%25",
            ),
            ("/dbs/d/colls/docs/docs", "Documents d,docs None dbs/d/colls/docs"),
            ("/dbs/d/colls/c/pkranges", "Ranges d,c None dbs/d/colls/c"),
            ("/dbs/d/colls/c/sprocs/s", "Procedures d,c Some(\"s\") dbs/d/colls/c/sprocs/s"),
            ("/dbs/d/colls/c/operations/partitionkeydelete", "PartitionKey d,c None dbs/d/colls/c"),
            ("/dbs/d/users/u", "Users d, Some(\"u\") dbs/d/users/u"),
            ("/dbs/d/users/u/permissions", "Permissions d,u None dbs/d/users/u"),
            (
                "/dbs/d/clientencryptionkeys/k",
                "ClientKeys d, Some(\"k\") dbs/d/clientencryptionkeys/k",
            ),
            ("/offers/Ab-c/", "Offers , Some(\"Ab-c\") offers/Ab-c"),
            ("/offers/offers/Ab-c/", "400"),
            ("/offers/x/Ab-c/", "404"),
            ("//addresses/", "Addresses , None "),
            ("/_explorer/emulator.pem", "Certificate , None "),
            ("/dbs/d/colls/c/nothing", "404"),
            ("/dbs/d/x", "404"),
            ("/dbs/d/colls/c/docs/1/2", "404"),
            ("/dbs/d/colls/c/docs/1/attachments/2/3", "404"),
            ("/nothing", "404"),
            ("/dbs/%FF", "400"),
        ] {
            assert_eq!(shown(path), want, "{path}");
        }
    }

    #[test]
    fn links_are_signed_in_several_forms() {
        for (path, want) in [
            ("/dbs/D/colls", vec!["dbs/D"]),
            ("/dbs/D/colls/a%20b", vec!["dbs/D/colls/a%20b", "dbs/D/colls/a b"]),
            ("/dbs/AQAAAA==/colls", vec!["dbs/AQAAAA==", "aqaaaa=="]),
            ("/offers/AbCd", vec!["offers/AbCd", "abcd"]),
        ] {
            let link = Link::parse(path).unwrap();
            let found: Vec<_> = link.signed_forms().into_iter().flatten().collect();
            assert_eq!(found, want, "{path}");
        }
    }
}
