//! What is known of an operation before it runs: the columns of the operation table.

use super::metric::Metric;

/// Whether an operation changes anything.
///
/// Read-only keys and tokens may send what reads, whatever the HTTP method is: a query is a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It changes nothing, and so it ends when its client leaves.
    Reads,
    /// It changes something, and so it goes on when its client has left.
    Writes,
}

/// Whether the throughput of an offer limits an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metering {
    /// Its request units are taken from the throughput of its container.
    Metered,
    /// It runs whatever the throughput is. This server meters only what touches items.
    Free,
}

/// In which task an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// In that of its connection: it is short, or one step that is taken whole or not at all.
    Inline,
    /// In one of its own, because its body is a query: compiling and evaluating it may keep a thread
    /// for long, while the task of the connection has to see that the client leaves.
    ForQuery,
    /// In one of its own, because it changes resources in several steps, which have to be finished
    /// although the client has gone.
    ForChange,
}

/// Which operations may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Any.
    AtOnce,
    /// One after the other: operations that look at resources and then change them in several steps.
    OneByOne,
}

/// What an operation's resource lies in. The response names it, because clients keep session tokens
/// under the path of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// The account, which responses do not name.
    Account,
    /// The database in the resource path.
    Database,
    /// The container in the resource path. It is looked up before the operation runs.
    Container,
}

/// What the sender of a request has to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Nothing, not even a signature.
    Nothing,
    /// A signature or a token, whatever it is for.
    AnyCredential,
    /// A key of the account that may write: the response holds a token, which may be for more than
    /// reading.
    WriteKey,
    /// A key, or a token for the resource or for what it lies in.
    Resource,
    /// The same; for reading, a token for one logical partition is enough. Clients ask what a
    /// container is like before they ask for its items.
    Container,
    /// The same; a token for one logical partition is enough where the request names that partition.
    Partition,
}

/// A row of the operation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The name under which its time is measured.
    pub(crate) metric: Metric,
    /// Whether it changes anything.
    pub(crate) access: Access,
    /// Whether throughput limits it.
    pub(crate) metering: Metering,
    /// In which task it runs, and whether its body is a query.
    pub(crate) task: Task,
    /// Whether it waits for other changes of resources.
    pub(crate) order: Order,
    /// What its resource lies in.
    pub(crate) parent: Parent,
    /// What its sender has to show.
    pub(crate) requirement: Requirement,
}
