//! The table of operations, one row each; `row` documents the columns.
//!
//! Some rows have equal values for different reasons. A query over resources other than items runs
//! in a separate task because compiling it may take long, although it scans only a few objects in
//! memory. A batch runs inline: a transactional batch is one commit, and so is each operation of a
//! bulk. Replacing an offer is a single write and is not serialized. Only operations on items are
//! metered.

use super::{
    metric::Metric::{
        Batch, ChangeFeed, Container as InContainer, CreateItem, Database as InDatabase,
        DeleteItem, DeletePartition, Other, PatchItem, Query, QueryPlan, ReadFeed, ReadItem,
        ReplaceItem, UpsertItem,
    },
    row::{
        Access::{self, Reads, Writes},
        Metering::{Free, Metered},
        Order::{AtOnce, OneByOne},
        Parent::{Account, Container, Database},
        Requirement::{self, AnyCredential, Nothing, Partition, Resource as OfResource, WriteKey},
        Row,
        Task::{ForChange, ForQuery, Inline},
    },
};
use crate::link::Resource;

macro_rules! operations {
    ($($name:ident: $metric:expr, $access:ident, $metering:ident, $task:ident, $order:ident,
       $parent:ident, $requirement:expr;)*) => {
        /// The operation of a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($name,)*
            /// A method that the kind of resource does not support. It has a row, because the
            /// request is authorized, metered and measured like any other before it is refused.
            NotAllowed(Resource, Access),
        }

        impl Operation {
            /// All operations of the table except `NotAllowed`.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name),*];

            pub(crate) const fn row(self) -> Row {
                match self {
                    $(Self::$name => Row {
                        metric: $metric,
                        access: $access,
                        metering: $metering,
                        task: $task,
                        order: $order,
                        parent: $parent,
                        requirement: $requirement,
                    },)*
                    Self::NotAllowed(kind, access) => not_allowed(kind, access),
                }
            }
        }
    };
}

/// The requirement of operations on a container's definition and ranges, which a token for one
/// logical partition may read.
const OF_CONTAINER: Requirement = Requirement::Container;

operations! {
    // Operation:       metric,          access, metering, task,       order,    parent,    requirement
    ReadAccount:        Other,           Reads,  Free,     Inline,     AtOnce,   Account,   AnyCredential;
    ReadCertificate:    Other,           Reads,  Free,     Inline,     AtOnce,   Account,   Nothing;
    ReadAddresses:      Other,           Reads,  Free,     Inline,     AtOnce,   Account,   AnyCredential;

    CreateDatabase:     InDatabase,      Writes, Free,     ForChange,  OneByOne, Account,   OfResource;
    QueryDatabases:     InDatabase,      Reads,  Free,     ForQuery,   AtOnce,   Account,   OfResource;
    ListDatabases:      InDatabase,      Reads,  Free,     Inline,     AtOnce,   Account,   OfResource;
    ReadDatabase:       InDatabase,      Reads,  Free,     Inline,     AtOnce,   Account,   OfResource;
    DeleteDatabase:     InDatabase,      Writes, Free,     ForChange,  OneByOne, Account,   OfResource;

    CreateContainer:    InContainer,     Writes, Free,     ForChange,  OneByOne, Database,  OF_CONTAINER;
    QueryContainers:    InContainer,     Reads,  Free,     ForQuery,   AtOnce,   Database,  OF_CONTAINER;
    ListContainers:     InContainer,     Reads,  Free,     Inline,     AtOnce,   Database,  OF_CONTAINER;
    ReadContainer:      InContainer,     Reads,  Free,     Inline,     AtOnce,   Database,  OF_CONTAINER;
    ReplaceContainer:   InContainer,     Writes, Free,     ForChange,  OneByOne, Database,  OF_CONTAINER;
    DeleteContainer:    InContainer,     Writes, Free,     ForChange,  OneByOne, Database,  OF_CONTAINER;

    CreateItem:         CreateItem,      Writes, Metered,  Inline,     AtOnce,   Container, Partition;
    UpsertItem:         UpsertItem,      Writes, Metered,  Inline,     AtOnce,   Container, Partition;
    ReadItem:           ReadItem,        Reads,  Metered,  Inline,     AtOnce,   Container, Partition;
    ReplaceItem:        ReplaceItem,     Writes, Metered,  Inline,     AtOnce,   Container, Partition;
    PatchItem:          PatchItem,       Writes, Metered,  Inline,     AtOnce,   Container, Partition;
    DeleteItem:         DeleteItem,      Writes, Metered,  Inline,     AtOnce,   Container, Partition;
    QueryItems:         Query,           Reads,  Metered,  ForQuery,   AtOnce,   Container, Partition;
    QueryPlan:          QueryPlan,       Reads,  Metered,  ForQuery,   AtOnce,   Container, Partition;
    Batch:              Batch,           Writes, Metered,  Inline,     AtOnce,   Container, Partition;
    ListItems:          ReadFeed,        Reads,  Metered,  Inline,     AtOnce,   Container, Partition;
    ChangeFeed:         ChangeFeed,      Reads,  Metered,  Inline,     AtOnce,   Container, Partition;
    DeletePartition:    DeletePartition, Writes, Metered,  ForChange,  AtOnce,   Container, Partition;

    ListRanges:         Other,           Reads,  Free,     Inline,     AtOnce,   Container, OF_CONTAINER;

    QueryConflicts:     Other,           Reads,  Free,     ForQuery,   AtOnce,   Container, OfResource;
    ListConflicts:      Other,           Reads,  Free,     Inline,     AtOnce,   Container, OfResource;
    ReadConflict:       Other,           Reads,  Free,     Inline,     AtOnce,   Container, OfResource;
    DeleteConflict:     Other,           Writes, Free,     Inline,     AtOnce,   Container, OfResource;

    CreateScript:       Other,           Writes, Free,     ForChange,  OneByOne, Container, OfResource;
    QueryScripts:       Other,           Reads,  Free,     ForQuery,   AtOnce,   Container, OfResource;
    ListScripts:        Other,           Reads,  Free,     Inline,     AtOnce,   Container, OfResource;
    ReadScript:         Other,           Reads,  Free,     Inline,     AtOnce,   Container, OfResource;
    ReplaceScript:      Other,           Writes, Free,     ForChange,  OneByOne, Container, OfResource;
    DeleteScript:       Other,           Writes, Free,     ForChange,  OneByOne, Container, OfResource;
    ExecuteProcedure:   Other,           Writes, Free,     Inline,     AtOnce,   Container, OfResource;

    CreateUser:         Other,           Writes, Free,     ForChange,  OneByOne, Database,  OfResource;
    QueryUsers:         Other,           Reads,  Free,     ForQuery,   AtOnce,   Database,  OfResource;
    ListUsers:          Other,           Reads,  Free,     Inline,     AtOnce,   Database,  OfResource;
    ReadUser:           Other,           Reads,  Free,     Inline,     AtOnce,   Database,  OfResource;
    ReplaceUser:        Other,           Writes, Free,     ForChange,  OneByOne, Database,  OfResource;
    DeleteUser:         Other,           Writes, Free,     ForChange,  OneByOne, Database,  OfResource;

    CreatePermission:   Other,           Writes, Free,     ForChange,  OneByOne, Account,   WriteKey;
    QueryPermissions:   Other,           Reads,  Free,     ForQuery,   AtOnce,   Account,   WriteKey;
    ListPermissions:    Other,           Reads,  Free,     Inline,     AtOnce,   Account,   WriteKey;
    ReadPermission:     Other,           Reads,  Free,     Inline,     AtOnce,   Account,   WriteKey;
    ReplacePermission:  Other,           Writes, Free,     ForChange,  OneByOne, Account,   WriteKey;
    DeletePermission:   Other,           Writes, Free,     ForChange,  OneByOne, Account,   WriteKey;

    CreateClientKey:    Other,           Writes, Free,     ForChange,  OneByOne, Database,  OfResource;
    QueryClientKeys:    Other,           Reads,  Free,     ForQuery,   AtOnce,   Database,  OfResource;
    ListClientKeys:     Other,           Reads,  Free,     Inline,     AtOnce,   Database,  OfResource;
    ReadClientKey:      Other,           Reads,  Free,     Inline,     AtOnce,   Database,  OfResource;
    ReplaceClientKey:   Other,           Writes, Free,     ForChange,  OneByOne, Database,  OfResource;

    QueryOffers:        Other,           Reads,  Free,     ForQuery,   AtOnce,   Account,   OfResource;
    ListOffers:         Other,           Reads,  Free,     Inline,     AtOnce,   Account,   OfResource;
    ReadOffer:          Other,           Reads,  Free,     Inline,     AtOnce,   Account,   OfResource;
    ReplaceOffer:       Other,           Writes, Free,     ForChange,  AtOnce,   Account,   OfResource;
}

/// Returns the row for an unsupported method of a kind of resource. Its values are common to the
/// rows of the supported methods of this kind.
const fn not_allowed(kind: Resource, access: Access) -> Row {
    let (metric, metering, parent, requirement) = match kind {
        Resource::Account => (Other, Free, Account, AnyCredential),
        Resource::Certificate => (Other, Free, Account, Nothing),
        Resource::Databases => (InDatabase, Free, Account, OfResource),
        Resource::Containers => (InContainer, Free, Account, OF_CONTAINER),
        Resource::Documents => (Other, Metered, Container, Partition),
        Resource::PartitionKey => (DeletePartition, Metered, Container, Partition),
        Resource::Ranges => (Other, Free, Account, OF_CONTAINER),
        Resource::Permissions => (Other, Free, Account, WriteKey),
        Resource::Procedures
        | Resource::Triggers
        | Resource::Udfs
        | Resource::Conflicts
        | Resource::Users
        | Resource::ClientKeys
        | Resource::Offers => (Other, Free, Account, OfResource),
        Resource::Addresses => (Other, Free, Account, AnyCredential),
    };
    Row { metric, access, metering, task: Inline, order: AtOnce, parent, requirement }
}
