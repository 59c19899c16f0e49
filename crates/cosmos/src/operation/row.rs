//! The columns of the operation table: the properties of an operation that are known before it
//! runs.

use super::metric::Metric;

/// Whether an operation changes anything.
///
/// Read-only keys and tokens may send read operations with any HTTP method: a query is a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The operation changes nothing and is cancelled when its client disconnects.
    Reads,
    /// The operation changes something and is completed even if its client has disconnected.
    Writes,
}

/// Whether throughput limits an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metering {
    /// The request units of the operation are charged to the throughput of its container.
    Metered,
    /// The operation is neither charged nor throttled, as all operations that are not on items.
    Free,
}

/// The task in which an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// The task of the connection: the operation is short, or a single atomic step.
    Inline,
    /// A task of its own, because the body is a query. Compiling and evaluating a query may block a
    /// thread for long, while the connection's task has to detect a disconnect.
    ForQuery,
    /// A task of its own, because it changes resources in several steps, which must be completed
    /// even if the client has disconnected.
    ForChange,
}

/// Whether an operation may run concurrently with other operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The operation may run concurrently with other operations.
    AtOnce,
    /// Serialized: the operation reads resources and then changes them in several steps.
    OneByOne,
}

/// The parent of an operation's resource. Responses name it, because clients store session tokens
/// by the path of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// The account. Responses have no header that names it.
    Account,
    /// The database in the resource path.
    Database,
    /// The container in the resource path, which is looked up before the operation runs.
    Container,
}

/// The credential that an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// The request may have no signature at all.
    Nothing,
    /// Any valid signature or token.
    AnyCredential,
    /// A full account key: the response contains a token, which may permit writes.
    WriteKey,
    /// A key, or a token for the resource or one of its parents.
    Resource,
    /// A key, or a token for the resource or one of its parents. For reads a token for one logical
    /// partition also suffices, because clients read a container's definition before its items.
    Container,
    /// A key, or a token for the resource or one of its parents. A token for one logical partition
    /// also suffices if the request names this partition.
    Partition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Label of the operation's latency metric.
    pub(crate) metric: Metric,
    pub(crate) access: Access,
    pub(crate) metering: Metering,
    /// The task that runs the operation. `Task::ForQuery` also means that the request's body is a
    /// query.
    pub(crate) task: Task,
    pub(crate) order: Order,
    pub(crate) parent: Parent,
    pub(crate) requirement: Requirement,
}
