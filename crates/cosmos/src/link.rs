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

use std::{borrow::Cow, sync::Arc};

use http::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

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
    /// Addresses of replicas, which clients in direct mode request. The owners are resource ids; the
    /// name lists partition key ranges.
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
    /// The link that the request's signature covers: the link of the resource or, for a feed, of its
    /// parent.
    pub(crate) signed: SignedLink,
}

/// A link that a signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignedLink {
    text: Arc<str>,
    /// Whether `text` is percent-encoded, as in a path.
    encoded: bool,
    /// The kind of the listed resources if the request is about a feed.
    feed: Option<Resource>,
}

impl SignedLink {
    /// Returns the path of the resource or feed, percent-encoded.
    pub(crate) fn to_path(&self) -> String {
        let text = match self.encoded {
            true => Cow::Borrowed(&*self.text),
            false => utf8_percent_encode(&self.text, IN_PATH).into(),
        };
        match self.feed {
            Some(kind) if text.is_empty() => format!("/{}", kind.path_word()),
            Some(kind) => format!("/{text}/{}", kind.path_word()),
            None => format!("/{text}"),
        }
    }
}

/// Characters of a link that a path must not contain as they are.
const IN_PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'?').add(b'\\');

impl Link {
    /// Parses the target of a request. In the path of an item a `?` is part of the id, since the
    /// .NET SDK sends and signs ids with an unescaped `?`.
    pub(crate) fn of_target(uri: &Uri) -> Result<Self> {
        let link = Self::parse(uri.path())?;
        match uri.query() {
            query if link.kind == Resource::Addresses => {
                Self::of_addresses(query.unwrap_or_default())
            }
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
        let feed = name.is_none().then_some(kind);
        let signed = SignedLink { text: signed.into(), encoded: true, feed };
        Ok(Self { kind, owners, name, signed })
    }

    /// Creates a link from names that are not percent-encoded. `signed` is the text that a signature
    /// covers.
    pub(crate) fn of_names(
        kind: Resource,
        owners: [String; 2],
        name: Option<String>,
        signed: &str,
    ) -> Self {
        let feed = name.is_none().then_some(kind);
        let signed = SignedLink { text: signed.into(), encoded: false, feed };
        Self { kind, owners, name, signed }
    }

    /// Returns the kind of resource that the request's signature covers. A request for addresses is
    /// signed like a read of the items or databases at these addresses.
    pub(crate) fn signed_word(&self) -> &'static str {
        let [database, _] = &self.owners;
        match self.kind {
            Resource::Addresses if database.is_empty() => Resource::Databases.path_word(),
            Resource::Addresses => Resource::Documents.path_word(),
            kind => kind.path_word(),
        }
    }

    /// Returns whether the request is about items or the conflicts of items.
    pub(crate) fn is_about_items(&self) -> bool {
        matches!(self.kind, Resource::Documents | Resource::Conflicts)
    }

    /// Parses a request for addresses. The parameter `$resolveFor` is `dbs` or the link of a
    /// container's items, `dbs/{rid}/colls/{rid}/docs`; `$partitionKeyRangeIds` lists ranges of the
    /// container.
    fn of_addresses(query: &str) -> Result<Self> {
        let (mut resolved, mut ranges) = (None, None);
        for parameter in query.split('&') {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match &*decode_part(name)? {
                "$resolveFor" => resolved = Some(decode_part(value)?),
                "$partitionKeyRangeIds" => ranges = Some(decode_part(value)?.into_owned()),
                _ => {}
            }
        }
        let resolved = resolved.unwrap_or_default();
        let parts: Vec<&str> = resolved.trim_matches('/').split('/').collect();
        match *parts.as_slice() {
            ["dbs"] => Ok(Self::of_names(Resource::Addresses, Default::default(), None, "")),
            ["dbs", database, "colls", container, "docs"] => {
                let owners = [database.to_owned(), container.to_owned()];
                let signed = container.to_ascii_lowercase();
                Ok(Self::of_names(Resource::Addresses, owners, ranges, &signed))
            }
            _ => Err(Failure::bad_request(format!(
                "'{resolved}' is not a valid value of $resolveFor: it is 'dbs' or the link of a \
                 container's items by resource ids."
            ))),
        }
    }

    /// Returns the texts that a client may have signed: the link as sent, the decoded link, and the
    /// resource id at the end of the link in lower case. SDKs and their versions differ, so a
    /// signature of any of these texts is accepted.
    pub(crate) fn signed_forms(&self) -> [Option<Cow<'_, str>>; 3] {
        let SignedLink { text, encoded, .. } = &self.signed;
        let decoded = Some(&**text).filter(|_| *encoded).and_then(|text| decode_part(text).ok());
        let decoded = decoded.filter(|decoded| *decoded != **text);
        // Uses the decoded form, since lower-casing would change percent escapes too.
        let whole = decoded.as_deref().unwrap_or(text);
        let last = whole.rsplit('/').next().unwrap_or_default();
        let is_id = Rid::parse(last).is_some() || self.kind == Resource::Offers;
        let last = is_id.then(|| Cow::Owned(last.to_ascii_lowercase()));
        [Some(Cow::Borrowed(text)), decoded, last]
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
                format!("{:?} {db},{owner} {:?} {}", link.kind, link.name, link.signed.text)
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
    fn addresses_are_of_ranges_or_of_the_account() {
        let parsed = |query: &str| {
            let uri: Uri = format!("//addresses/?{query}").parse().unwrap();
            let link = Link::of_target(&uri).map_err(|failure| failure.fault.status())?;
            let forms: Vec<String> =
                link.signed_forms().into_iter().flatten().map(Cow::into_owned).collect();
            Ok((link.signed_word(), forms[0].clone(), link.owners, link.name))
        };
        let owners = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        let account = Ok(("dbs", String::new(), owners("", ""), None));
        assert_eq!(parsed("$resolveFor=dbs&$filter=protocol%20eq%20rntbd"), account);
        let range = "$resolveFor=dbs%2fAAAA1w%3d%3d%2fcolls%2fAAAA14AAAMs%3d%2fdocs&\
                     $filter=protocol%20eq%20rntbd&$partitionKeyRangeIds=0%2c1";
        let want = ("docs", "aaaa14aaams=".to_owned(), owners("AAAA1w==", "AAAA14AAAMs="));
        assert_eq!(parsed(range), Ok((want.0, want.1, want.2, Some("0,1".to_owned()))));
        for query in ["", "$resolveFor=", "$resolveFor=dbs%2fx", "$resolveFor=%ff"] {
            assert_eq!(parsed(query), Err(400), "{query}");
        }
    }

    #[test]
    fn names_are_signed_as_they_are() {
        let owners = ["d".to_owned(), "c".to_owned()];
        let id = "p%20 ?#/x".to_owned();
        let text = "dbs/d/colls/c/docs/p%20 ?#/x";
        let link = Link::of_names(Resource::Documents, owners.clone(), Some(id), text);
        let forms: Vec<_> = link.signed_forms().into_iter().flatten().collect();
        assert_eq!(forms, [text]);
        assert_eq!(link.signed.to_path(), "/dbs/d/colls/c/docs/p%2520%20%3F%23/x");
        let feed = Link::of_names(Resource::Documents, owners, None, "dbs/d/colls/c");
        assert_eq!(feed.signed.to_path(), "/dbs/d/colls/c/docs");
        let all = Link::of_names(Resource::Databases, Default::default(), None, "");
        assert_eq!(all.signed.to_path(), "/dbs");
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
