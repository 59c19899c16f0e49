//! Reads with retries: as long as a read halts because its view cannot decide which documents are
//! live, or another condition is not met, resolves the reason and reads again in a new view.
//!
//! Apart from failures there are five reasons ([`Halt`]): commits in flight (or a reopening of the
//! store, for which the next view's snapshot waits), a view that was ended for too much disk space,
//! an index that must be marked as multikey, an expiration that must be published, and a capped
//! collection in which more documents must be evicted than one commit may delete.
//! [`Engine::resolve`] handles all of them, and every loop counts its attempts.

use crate::{
    attempts::Attempts,
    engine::Engine,
    error::{Error, Halt, Kind},
    view::LiveView,
};

/// Reads in a view, retrying in a new view after each halt. Evaluates to the result and the view in
/// which it was read, or to an error: [`Kind::Conflict`](crate::error::Kind::Conflict) after too
/// many attempts.
///
/// `$read` is a `Result<_, Halt>` and must not return from the enclosing function. This is a macro
/// because the compiler cannot prove that the future of a closure over any view's lifetime is
/// `Send`.
macro_rules! read_in_view {
    ($engine:expr, $collection:expr, |$view:ident| $read:expr) => {{
        let mut attempts = $crate::attempts::Attempts::to_read();
        loop {
            if let Err(error) = attempts.begin_next() {
                break Err(error);
            }
            let $view = match $engine.view($collection).await {
                Ok(view) => view,
                Err(error) => break Err(error),
            };
            match $read {
                Ok(found) => break Ok((found, $view)),
                Err(halt) => {
                    if let Err(error) = $engine.resolve(&$view, halt, &mut attempts).await {
                        break Err(error);
                    }
                }
            }
        }
    }};
}
pub(crate) use read_in_view;

impl Engine {
    /// Waits for or removes the cause of a halt, so that the operation can be retried in a new
    /// view.
    ///
    /// # Errors
    ///
    /// The error of [`Halt::Failed`]. If it is [`Kind::ViewEnded`], the operation is retried a few
    /// times first.
    pub(crate) async fn resolve(
        &self,
        view: &LiveView,
        halt: Halt,
        attempts: &mut Attempts,
    ) -> Result<(), Error> {
        match halt {
            Halt::Failed(error)
                if error.kind == Kind::ViewEnded && attempts.may_follow_ended_view() =>
            {
                Ok(())
            }
            Halt::Failed(error) => Err(error),
            Halt::LookAgain => {
                view.wait_for_in_flight(&self.inner.views).await;
                Ok(())
            }
            // The writer waits for the memory when its next attempt begins.
            Halt::NeedsMemory => Ok(()),
            // Boxed, because making room opens views and so may call this function recursively.
            Halt::NeedsRoom(new) => Box::pin(self.make_more_room(&view.collection, new)).await,
            // The indexes are marked in a separate commit; the retried write then finds them
            // marked.
            Halt::Multikey(indexes) => Box::pin(self.set_multikey(&view.collection, indexes)).await,
            // Boxed, because publishing opens views and so may call this function recursively.
            Halt::Unpublished => Box::pin(self.publish_expirations(&view.collection)).await,
        }
    }
}
