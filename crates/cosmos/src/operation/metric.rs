//! Labels of latency metrics. Related operations share a label; each operation on items has a label
//! of its own.

macro_rules! metrics {
    ($($metric:ident = $name:literal,)*) => {
        /// The label of a latency metric.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Metric {
            $(#[doc = $name] $metric,)*
        }

        impl Metric {
            /// All metrics in the order of their numbers, by which the histograms are indexed.
            pub(crate) const ALL: &'static [(Self, &'static str)] = &[$((Self::$metric, $name)),*];
        }
    };
}

// These labels are public: dashboards rely on them.
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
