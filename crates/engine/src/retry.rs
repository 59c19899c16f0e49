//! Reads in a view, and in a new one as long as a view cannot tell: what it waits for is done in
//! between.
//!
//! There are three things to wait for, besides failures ([`Halt`]): commits in flight (or the next
//! opening of the store, which the next view's snapshot waits for by itself), a note in an index
//! that documents have several entries in it, and the publication of an expiration. All of them are
//! done by [`Engine::resolve`], in one place, and every loop counts its attempts.

use store::Store;

use crate::{
    engine::Engine,
    error::{Error, Halt},
    view::LiveView,
};

/// Reads in a view, and in a new one as long as a view cannot tell. Evaluates to what was read and
/// the view, whose instant and `seq` it holds for; or to the error that ended it, which is
/// [`Kind::Conflict`](crate::error::Kind::Conflict) when there were too many attempts.
///
/// `$read` is a `Result<_, Halt>` and does not leave the function itself. A macro, since a function
/// would take a closure of any view's lifetime, of whose future the compiler cannot tell that it
/// may move between threads.
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
                    if let Err(error) = $engine.resolve(&$view, halt).await {
                        break Err(error);
                    }
                }
            }
        }
    }};
}
pub(crate) use read_in_view;

impl<S: Store> Engine<S> {
    /// Does what a halted operation waits for, so that it can be tried again in a new view.
    pub(crate) async fn resolve(&self, view: &LiveView<S>, halt: Halt) -> Result<(), Error> {
        match halt {
            Halt::Failed(error) => Err(error),
            Halt::LookAgain => {
                view.wait_for_in_flight(&self.inner.views).await;
                Ok(())
            }
            // A commit of its own; the write is then built with the index so marked.
            Halt::Multikey(indexes) => self.set_multikey(&view.collection, indexes).await,
            // Boxed, since publishing opens views itself.
            Halt::Unpublished => Box::pin(self.publish_expirations(&view.collection)).await,
        }
    }
}
