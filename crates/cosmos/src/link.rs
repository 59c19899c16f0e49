//! Links: which resource a path means, and how a client may have signed it. Whether the resource is
//! there, and whether a part is a name or a resource id, is found out later.
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
//! A path without the last name is that of the feed of all. Slashes at either end change nothing,
//! because clients build links from `_self`, which ends with one.

use std::borrow::Cow;

use http::Uri;
use percent_encoding::percent_decode_str;

use crate::{
    failure::{Failure, Fault, Result},
    rid::Rid,
};

/// Kinds of resources, as paths name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The account document at the root.
    Account,
    Databases,
    Containers,
    /// Items; the protocol calls them documents.
    Documents,
    /// Partition key ranges.
    Ranges,
    Procedures,
    Triggers,
    Udfs,
    /// Conflicts between regions, of which there are none.
    Conflicts,
    Users,
    Permissions,
    /// Keys of client encryption.
    ClientKeys,
    /// Throughput of databases and containers.
    Offers,
    /// What is removed with a partition key.
    PartitionKey,
    /// Addresses of replicas, which clients in direct mode ask for.
    Addresses,
    /// The certificate that tools ask for.
    Certificate,
}

impl Resource {
    /// The word in paths and signatures; empty where a path has none.
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

    /// The kind that is named by a word below a container.
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

/// What a path means. Names are decoded; that of the signature is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The kind of what is meant.
    pub(crate) kind: Resource,
    /// Names or resource ids of what holds it: the database, then the container or user. Empty
    /// where the path has none.
    pub(crate) owners: [String; 2],
    /// Its own name; `None` where the path is that of the feed of all.
    pub(crate) name: Option<String>,
    /// The link that is signed, as it came: that of the resource, or for a feed that of its owner.
    signed: String,
}

impl Link {
    /// Reads the target of a request. The path of an item has no query string: .NET sends an id with `?` as
    /// it is, and signs it so.
    pub(crate) fn of_target(uri: &Uri) -> Result<Self> {
        let link = Self::parse(uri.path())?;
        match uri.query() {
            Some(query) if link.kind == Resource::Documents && link.name.is_some() => {
                Self::parse(&format!("{}?{query}", uri.path()))
            }
            _ => Ok(link),
        }
    }

    /// Reads a path, without the query string after it. A path that means no resource is 404,
    /// before anybody asks for a signature: without a kind nothing could be signed.
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
        // What is signed for a feed is the link of its owner.
        let owner = |word: &str| link.strip_suffix(word).unwrap_or(link).trim_end_matches('/');
        let [first, db, second, owned, third, leaf, _] = parts;
        let named = not_empty;
        let kind = match (first, count) {
            ("dbs", 1..=2) => Resource::Databases,
            ("offers", 1..=2) => Resource::Offers,
            // Some clients take `_self` for the offer's name.
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

    /// The parts of a link, decoded.
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

    /// The texts that a client may have signed: the link as it came, as it is decoded, and the
    /// resource id at its end in lower case. Which one it is depends on the SDK and its version,
    /// and on what it encodes; the signature tells.
    pub(crate) fn signed_forms(&self) -> [Option<Cow<'_, str>>; 3] {
        let decoded = decode_part(&self.signed).ok().filter(|text| *text != self.signed);
        // Encoded, an id would be lower case in its escapes too.
        let whole = decoded.as_deref().unwrap_or(&self.signed);
        let last = whole.rsplit('/').next().unwrap_or_default();
        let is_id = Rid::parse(last).is_some() || self.kind == Resource::Offers;
        let last = is_id.then(|| Cow::Owned(last.to_ascii_lowercase()));
        [Some(Cow::Borrowed(&self.signed)), decoded, last]
    }
}

/// A part between two slashes that follow each other is as if it were not there.
fn not_empty(name: &str) -> Option<&str> {
    Some(name).filter(|name| !name.is_empty())
}

/// Decodes the percent signs of a part, which has to be UTF-8 then.
fn decode_part(part: &str) -> Result<Cow<'_, str>> {
    if !part.contains('%') {
        return Ok(Cow::Borrowed(part));
    }
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.map_err(|_| Failure::bad_request("The request's path is not UTF-8."))
}

/// The failure for a path below that of an offer.
fn no_offer(id: &str) -> Failure {
    Failure::bad_request(format!("'offers/{id}' is not the id of an offer."))
}

/// The failure for a path that means nothing here.
fn unknown_path() -> Failure {
    Failure::new(Fault::NotFound, "There is no resource of that path.")
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
