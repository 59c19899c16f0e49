//! Links of frames: from the names in their tokens, or from a resource id.

use rntbd::{OperationType, ResourceType};

use crate::{
    failure::{Failure, Fault, Result},
    link::{Link, Resource},
    rid,
};

/// The names of a resource and its parents in a frame. They are not percent-encoded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) database: Option<&'a str>,
    pub(super) container: Option<&'a str>,
    pub(super) user: Option<&'a str>,
    /// Name of a resource in a container or of a user, with its kind.
    pub(super) leaf: Option<(Resource, &'a str)>,
    /// The resource id as bytes, which denotes the resource if there are no names.
    pub(super) rid: Option<&'a [u8]>,
}

impl Names<'_> {
    fn are_missing(&self) -> bool {
        self.database.or(self.container).or(self.user).is_none() && self.leaf.is_none()
    }
}

/// Returns the kind of resource that a frame is about.
pub(super) const fn kind_of(resource: ResourceType) -> Resource {
    match resource {
        ResourceType::Database => Resource::Databases,
        ResourceType::Collection => Resource::Containers,
        ResourceType::Document => Resource::Documents,
        ResourceType::User => Resource::Users,
        ResourceType::Permission => Resource::Permissions,
        ResourceType::StoredProcedure => Resource::Procedures,
        ResourceType::Conflict => Resource::Conflicts,
        ResourceType::Trigger => Resource::Triggers,
        ResourceType::UserDefinedFunction => Resource::Udfs,
        ResourceType::PartitionKeyRange => Resource::Ranges,
        ResourceType::ClientEncryptionKey => Resource::ClientKeys,
    }
}

/// Returns whether an operation is about a feed, so that the frame names only the feed's parent.
const fn is_of_feed(operation: OperationType) -> bool {
    matches!(
        operation,
        OperationType::Create
            | OperationType::Upsert
            | OperationType::ReadFeed
            | OperationType::HeadFeed
            | OperationType::Query
            | OperationType::SqlQuery
            | OperationType::Batch
            | OperationType::QueryPlan
    )
}

/// Returns the link of a request.
pub(super) fn read_link(
    kind: Resource,
    operation: OperationType,
    names: &Names<'_>,
) -> Result<Link> {
    let feed = is_of_feed(operation);
    match names.rid {
        Some(rid) if names.are_missing() => link_of_rid(kind, feed, rid),
        _ => link_of_names(kind, feed, names),
    }
}

/// Returns the link of a resource that a frame denotes by names.
fn link_of_names(kind: Resource, feed: bool, names: &Names<'_>) -> Result<Link> {
    let leaf = match names.leaf {
        Some((of, _)) if of != kind => return Err(other_names()),
        leaf => leaf.map(|(_, name)| name),
    };
    let chain = match kind {
        Resource::Databases => vec![(kind, names.database)],
        Resource::Containers => {
            vec![(Resource::Databases, names.database), (kind, names.container)]
        }
        Resource::Users => vec![(Resource::Databases, names.database), (kind, names.user)],
        Resource::ClientKeys => vec![(Resource::Databases, names.database), (kind, leaf)],
        Resource::Permissions => {
            vec![(Resource::Databases, names.database), (Resource::Users, names.user), (kind, leaf)]
        }
        _ => vec![
            (Resource::Databases, names.database),
            (Resource::Containers, names.container),
            (kind, leaf),
        ],
    };
    let mut signed = String::with_capacity(64);
    let (mut owners, mut name) = ([const { String::new() }; 2], None);
    for (place, (of, found)) in chain.iter().enumerate() {
        let is_last = place + 1 == chain.len();
        let found = match (is_last && feed, found) {
            (true, None) => break,
            (false, Some(found)) if !found.is_empty() => *found,
            _ => return Err(other_names()),
        };
        if !signed.is_empty() {
            signed.push('/');
        }
        signed.push_str(of.path_word());
        signed.push('/');
        signed.push_str(found);
        match owners.get_mut(place).filter(|_| !is_last) {
            Some(owner) => found.clone_into(owner),
            None => name = Some(found.to_owned()),
        }
    }
    Ok(Link::of_names(kind, owners, name, &signed))
}

/// Returns the link of a resource that a frame denotes by its resource id, which begins with the ids
/// of its parents.
fn link_of_rid(kind: Resource, feed: bool, rid: &[u8]) -> Result<Link> {
    let part = |len: usize| rid.get(..len).map(rid::encode_bytes);
    let (database, owner) = (part(4).ok_or_else(other_names)?, part(8));
    let whole = rid::encode_bytes(rid);
    let below_database = matches!(kind, Resource::Containers | Resource::Users);
    let (container, user) = match kind {
        Resource::Users | Resource::Permissions => (None, owner.as_deref()),
        Resource::Databases | Resource::ClientKeys => (None, None),
        _ => (owner.as_deref(), None),
    };
    let leaf = match kind {
        Resource::Databases => None,
        Resource::ClientKeys => Some((kind, whole.as_str())).filter(|_| !feed),
        _ if below_database => None,
        _ => Some((kind, whole.as_str())).filter(|_| 8 < rid.len()),
    };
    let names = Names { database: Some(&database), container, user, leaf, rid: None };
    link_of_names(kind, feed, &names)
}

/// Returns the failure for a frame whose names do not denote a resource of its kind.
fn other_names() -> Failure {
    Failure::bad_request("The names in the request do not denote a resource of its type.")
}

/// Returns the failure for an operation that the kind of resource does not have.
pub(super) fn no_operation(operation: u16, resource: u16) -> Failure {
    let text =
        format!("The operation {operation:#x} is not supported for the resource {resource:#x}.");
    Failure::new(Fault::MethodNotAllowed, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: Resource, operation: OperationType, names: &Names<'_>) -> String {
        match read_link(kind, operation, names) {
            Ok(link) => {
                let forms: Vec<_> = link.signed_forms().into_iter().flatten().collect();
                format!("{} {:?} {}", link.owners.join(","), link.name, forms.join(" "))
            }
            Err(failure) => failure.fault.status().to_string(),
        }
    }

    #[test]
    fn names_denote_resources() {
        use OperationType::{Create, Query, Read, ReadFeed};
        let none = Names::default();
        let database = Names { database: Some("d"), ..none };
        let container = Names { container: Some("c"), ..database };
        let user = Names { user: Some("u"), ..database };
        let item = |id| Names { leaf: Some((Resource::Documents, id)), ..container };
        let permission = Names { leaf: Some((Resource::Permissions, "p")), ..user };
        for (kind, operation, names, want) in [
            (Resource::Databases, ReadFeed, none, ", None "),
            (Resource::Databases, Read, database, ", Some(\"d\") dbs/d"),
            (Resource::Containers, Query, database, "d, None dbs/d"),
            (Resource::Containers, Read, container, "d, Some(\"c\") dbs/d/colls/c"),
            (Resource::Documents, Create, container, "d,c None dbs/d/colls/c"),
            (Resource::Documents, Read, item("a/b?"), "d,c Some(\"a/b?\") dbs/d/colls/c/docs/a/b?"),
            (
                Resource::Permissions,
                Read,
                permission,
                "d,u Some(\"p\") dbs/d/users/u/permissions/p",
            ),
            (Resource::Documents, Read, container, "400"),
            (Resource::Documents, Create, item("a"), "400"),
            (Resource::Documents, Create, database, "400"),
            (Resource::Documents, Read, item(""), "400"),
            (Resource::Procedures, Read, item("a"), "400"),
            (Resource::Databases, Read, none, "400"),
        ] {
            assert_eq!(shown(kind, operation, &names), want, "{kind:?} {operation:?} {names:?}");
        }
    }

    #[test]
    fn resource_ids_denote_resources() {
        use OperationType::{Query, Read};
        let (database, container) = ([0, 0, 0, 1], [0, 0, 0, 1, 0x80, 0, 0, 2]);
        let mut item = [0; 16];
        item[..8].copy_from_slice(&container);
        let names = |rid| Names { rid: Some(rid), ..Names::default() };
        for (kind, operation, rid, want) in [
            (
                Resource::Databases,
                Read,
                &database[..],
                ", Some(\"AAAAAQ==\") dbs/AAAAAQ== aaaaaq==",
            ),
            (Resource::Containers, Query, &database, "AAAAAQ==, None dbs/AAAAAQ== aaaaaq=="),
            (
                Resource::Documents,
                Query,
                &container,
                "AAAAAQ==,AAAAAYAAAAI= None dbs/AAAAAQ==/colls/AAAAAYAAAAI= aaaaayaaaai=",
            ),
            (
                Resource::Documents,
                Read,
                &item,
                "AAAAAQ==,AAAAAYAAAAI= Some(\"AAAAAYAAAAIAAAAAAAAAAA==\") \
                 dbs/AAAAAQ==/colls/AAAAAYAAAAI=/docs/AAAAAYAAAAIAAAAAAAAAAA== \
                 aaaaayaaaaiaaaaaaaaaaa==",
            ),
            (Resource::Documents, Read, &container, "400"),
            (Resource::Documents, Query, &item, "400"),
            (Resource::Documents, Read, &[0, 0], "400"),
        ] {
            assert_eq!(shown(kind, operation, &names(rid)), want, "{kind:?} {operation:?} {rid:?}");
        }
    }
}
