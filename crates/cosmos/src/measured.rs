//! What requests are counted as where it is measured how long they take. Not what answers them.

use crate::{call::Call, link::Resource};

macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// A kind of request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Measured {
            $(#[doc = $name] $kind,)*
        }

        impl Measured {
            /// All, in the order of their numbers.
            pub(crate) const ALL: &'static [(Self, &'static str)] = &[$((Self::$kind, $name)),*];
        }
    };
}

kinds! {
    CreateItem = "create item",
    UpsertItem = "upsert item",
    ReadItem = "read item",
    ReplaceItem = "replace item",
    PatchItem = "patch item",
    DeleteItem = "delete item",
    Query = "query",
    QueryPlan = "query plan",
    Batch = "batch",
    ReadFeed = "read feed",
    ChangeFeed = "change feed",
    DeletePartition = "delete partition",
    Container = "container",
    Database = "database",
    Other = "other",
}

impl Measured {
    /// What a request is.
    pub(crate) fn of(call: &Call<'_>) -> Self {
        match call.link.kind {
            Resource::Documents => Self::of_items(call),
            Resource::PartitionKey => Self::DeletePartition,
            Resource::Containers => Self::Container,
            Resource::Databases => Self::Database,
            _ => Self::Other,
        }
    }

    fn of_items(call: &Call<'_>) -> Self {
        let headers = &call.headers;
        match (call.verb.as_str(), call.link.name.is_some()) {
            ("POST", false) if headers.is_plan => Self::QueryPlan,
            ("POST", false) if headers.is_batch => Self::Batch,
            ("POST", false) if call.asks() => Self::Query,
            ("POST", false) if headers.is_upsert => Self::UpsertItem,
            ("POST", false) => Self::CreateItem,
            ("GET", false) if headers.a_im.is_some() => Self::ChangeFeed,
            ("GET", false) => Self::ReadFeed,
            ("GET" | "HEAD", true) => Self::ReadItem,
            ("PUT", true) => Self::ReplaceItem,
            ("PATCH", true) => Self::PatchItem,
            ("DELETE", true) => Self::DeleteItem,
            _ => Self::Other,
        }
    }
}
