//! The names under which the time of operations is measured. Several operations share one where
//! users would not look at them apart; what touches items has one each.

macro_rules! metrics {
    ($($metric:ident = $name:literal,)*) => {
        /// A name under which the time of operations is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Metric {
            $(#[doc = $name] $metric,)*
        }

        impl Metric {
            /// All of them, in the order of their numbers: the histogram of a metric has its number.
            pub(crate) const ALL: &'static [(Self, &'static str)] = &[$((Self::$metric, $name)),*];
        }
    };
}

// These names are labels of the server's metrics: dashboards rely on them.
metrics! {
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
