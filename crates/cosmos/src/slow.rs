//! The log of slow requests: one line each, with what was done and what it took, and without values. It
//! decides nothing.

use std::time::Duration;

use engine::Store;
use evaluation::Looked;

use crate::{
    door::Door,
    link::Link,
    operation::{Metric, Operation},
    reply::Reply,
};

/// What a line says of a request that has been answered.
pub(crate) struct Slow<'a> {
    pub(crate) operation: Option<Operation>,
    /// The path that the request came to, which could be read.
    pub(crate) path: &'a str,
    pub(crate) looked: &'a Looked,
    /// The client's program, as it calls itself.
    pub(crate) agent: &'a str,
    pub(crate) activity: &'a str,
    pub(crate) took: Duration,
    pub(crate) reply: &'a Reply,
}

/// Writes a line for a request that took as long as the door's limit says, or longer. What a client chose
/// is escaped.
pub(crate) fn note_slow<S: Store>(door: &Door<S>, slow: &Slow<'_>) {
    let limit = door.settings.slow_ms;
    let ms = u64::try_from(slow.took.as_millis()).unwrap_or(u64::MAX);
    if limit.is_none_or(|limit| ms < limit) {
        return;
    }
    let metric = slow.operation.and_then(|it| Metric::ALL.get(it.row().metric as usize));
    // Read again for the few that are slow, so that no request keeps names for this.
    let owners = Link::parse(slow.path).map(|link| link.owners.join(".")).unwrap_or_default();
    tracing::info!(
        api = "nosql",
        command = metric.map_or("", |(_, name)| name),
        namespace = ?owners.trim_matches('.'),
        ms,
        examined = slow.looked.examined(),
        returned = slow.reply.count.unwrap_or_default(),
        plan = ?slow.looked.access().unwrap_or("none"),
        units = slow.reply.request_units as f64 / 100.0,
        status = slow.reply.status,
        app = ?slow.agent,
        request = ?slow.activity,
        "slow operation"
    );
}
