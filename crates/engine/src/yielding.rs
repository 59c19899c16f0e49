//! Long operations let others run: a future that is pending once, and the places where it is due.
//! Work is counted in bytes looked at, so that rows and keys cost about what they take.

use std::{
    future::poll_fn,
    task::{Context, Poll},
};

use evaluation::Error;

use crate::lanes;

/// Lets whatever else waits for this thread run first.
pub async fn yield_now() {
    lanes::note_rest();
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

/// Notes work of an operation and lets others run when it was enough; fails when its time is over.
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
