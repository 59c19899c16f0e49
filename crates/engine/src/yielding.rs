//! Yielding of long operations: a future that is pending once, and the check whether a yield is
//! due. Work is measured in bytes examined, so that rows and keys are charged by their approximate
//! cost.

use std::{
    future::poll_fn,
    task::{Context, Poll},
};

use evaluation::Error;

use crate::lanes;

/// Yields to other tasks of this thread once.
pub async fn yield_now() {
    lanes::record_yield();
    yield_as_short().await;
}

/// Yields to other tasks of this thread once, and leaves the operation classified as it was.
pub(crate) async fn yield_as_short() {
    let mut yielded = false;
    poll_fn(|context: &mut Context<'_>| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Charges work to an operation and yields if due; fails if the operation was cancelled or timed
/// out.
pub(crate) async fn yield_if_due(
    operation: &evaluation::Context,
    work: usize,
) -> Result<(), Error> {
    operation.budget.spend(work)?;
    if operation.budget.is_due() {
        operation.budget.check()?;
        yield_now().await;
    }
    Ok(())
}
