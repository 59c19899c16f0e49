//! Determines the operation of a request from its method, resource path and headers. No other code
//! does this.
//!
//! The order of the checks is part of the protocol: it decides which of several headers takes
//! precedence. The rights of read-only keys and tokens are checked against the operation, so a
//! request that changes data must never map to a read operation.

use http::Method;

use super::{row::Access, table::Operation};
use crate::{
    headers::Headers,
    link::{Link, Resource},
};

impl Operation {
    /// Returns the operation of a request. For databases, containers and items, HEAD is the
    /// operation of GET, with a response without a body; feeds and other resources do not support
    /// HEAD.
    pub(crate) fn decide(method: &Method, link: &Link, headers: &Headers) -> Self {
        use Resource as Kind;
        let named = link.name.is_some();
        // A POST to a feed is a query if its headers mark it as one, otherwise a create.
        let post = |query: Self, create: Self| if headers.has_query() { query } else { create };
        match (link.kind, method.as_str(), named) {
            (Kind::Account, "GET" | "HEAD", _) => Self::ReadAccount,
            (Kind::Certificate, "GET", _) => Self::ReadCertificate,
            (Kind::Addresses, "GET", _) => Self::ReadAddresses,

            (Kind::Databases, "POST", false) => post(Self::QueryDatabases, Self::CreateDatabase),
            (Kind::Databases, "GET", false) => Self::ListDatabases,
            (Kind::Databases, "GET" | "HEAD", true) => Self::ReadDatabase,
            (Kind::Databases, "DELETE", true) => Self::DeleteDatabase,

            (Kind::Containers, "POST", false) => post(Self::QueryContainers, Self::CreateContainer),
            (Kind::Containers, "GET", false) => Self::ListContainers,
            (Kind::Containers, "GET" | "HEAD", true) => Self::ReadContainer,
            (Kind::Containers, "PUT", true) => Self::ReplaceContainer,
            (Kind::Containers, "DELETE", true) => Self::DeleteContainer,

            (Kind::Documents, "POST", false) => Self::posted_to_items(headers),
            (Kind::Documents, "GET", false) if headers.a_im().is_some() => Self::ChangeFeed,
            (Kind::Documents, "GET", false) => Self::ListItems,
            (Kind::Documents, "GET" | "HEAD", true) => Self::ReadItem,
            (Kind::Documents, "PUT", true) => Self::ReplaceItem,
            (Kind::Documents, "PATCH", true) => Self::PatchItem,
            (Kind::Documents, "DELETE", true) => Self::DeleteItem,

            (Kind::Ranges, "GET", false) => Self::ListRanges,
            (Kind::PartitionKey, "POST", _) => Self::DeletePartition,

            (Kind::Conflicts, "POST", false) => Self::QueryConflicts,
            (Kind::Conflicts, "GET", false) => Self::ListConflicts,
            (Kind::Conflicts, "GET", true) => Self::ReadConflict,
            (Kind::Conflicts, "DELETE", true) => Self::DeleteConflict,

            (Kind::Users, "POST", false) => post(Self::QueryUsers, Self::CreateUser),
            (Kind::Users, "GET", false) => Self::ListUsers,
            (Kind::Users, "GET", true) => Self::ReadUser,
            (Kind::Users, "PUT", true) => Self::ReplaceUser,
            (Kind::Users, "DELETE", true) => Self::DeleteUser,

            (Kind::Permissions, "POST", false) => {
                post(Self::QueryPermissions, Self::CreatePermission)
            }
            (Kind::Permissions, "GET", false) => Self::ListPermissions,
            (Kind::Permissions, "GET", true) => Self::ReadPermission,
            (Kind::Permissions, "PUT", true) => Self::ReplacePermission,
            (Kind::Permissions, "DELETE", true) => Self::DeletePermission,

            (Kind::ClientKeys, "POST", false) => post(Self::QueryClientKeys, Self::CreateClientKey),
            (Kind::ClientKeys, "GET", false) => Self::ListClientKeys,
            (Kind::ClientKeys, "GET", true) => Self::ReadClientKey,
            (Kind::ClientKeys, "PUT", true) => Self::ReplaceClientKey,

            (Kind::Offers, "POST", false) if headers.has_query() => Self::QueryOffers,
            (Kind::Offers, "GET", false) => Self::ListOffers,
            (Kind::Offers, "GET", true) => Self::ReadOffer,
            (Kind::Offers, "PUT", true) => Self::ReplaceOffer,

            (Kind::Procedures, "POST", true) => Self::ExecuteProcedure,
            (Kind::Procedures | Kind::Triggers | Kind::Udfs, verb, named) => {
                Self::of_script(verb, named, headers)
                    .unwrap_or(Self::not_allowed(link.kind, method))
            }
            (kind, _, _) => Self::not_allowed(kind, method),
        }
    }

    /// Returns the operation of a POST to the feed of items. The order of the checks is the
    /// precedence of the headers: a query plan request of official clients also has the headers of
    /// a query, and a batch request may have them.
    fn posted_to_items(headers: &Headers) -> Self {
        match headers {
            _ if headers.is_plan() => Self::QueryPlan,
            _ if headers.is_batch() => Self::Batch,
            _ if headers.has_query() => Self::QueryItems,
            _ if headers.is_upsert() => Self::UpsertItem,
            _ => Self::CreateItem,
        }
    }

    /// Returns the operation on a stored procedure, trigger or user-defined function; `None` for an
    /// unsupported method. The operations do not distinguish these three kinds.
    fn of_script(verb: &str, named: bool, headers: &Headers) -> Option<Self> {
        Some(match (verb, named) {
            ("POST", false) if headers.has_query() => Self::QueryScripts,
            ("POST", false) => Self::CreateScript,
            ("GET", false) => Self::ListScripts,
            ("GET", true) => Self::ReadScript,
            ("PUT", true) => Self::ReplaceScript,
            ("DELETE", true) => Self::DeleteScript,
            _ => return None,
        })
    }

    /// Returns the operation for an unsupported method. GET and HEAD count as reads, so that a
    /// request with a read-only key gets 405; other methods count as writes and get 403.
    fn not_allowed(kind: Resource, method: &Method) -> Self {
        let access = match *method {
            Method::GET | Method::HEAD => Access::Reads,
            _ => Access::Writes,
        };
        Self::NotAllowed(kind, access)
    }
}
