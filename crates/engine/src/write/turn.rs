//! Decides whether a writer of one document takes turns in its collection.

use evaluation::Context;

use crate::{
    attempts::Attempts,
    catalog::Collection,
    error::Error,
    read::{Find, Finder},
    turns::Turn,
};

/// Waits for a turn before an attempt if the first document in sort order must be found by a full
/// scan, and an earlier attempt has lost or a turn is held, so that later writers do not overtake
/// waiting ones. A turn is kept until the operation ends.
pub(super) async fn join_turns<'a>(
    collection: &'a Collection,
    find: &Find,
    context: &Context,
    attempts: &Attempts,
    turn: &mut Option<Turn<'a>>,
) -> Result<(), Error> {
    if turn.is_some() || find.sort.is_none() {
        return Ok(());
    }
    let has_lost = !attempts.is_first();
    if (has_lost || collection.turns.is_taken())
        && !Finder::new(&collection.state(), find, None)?.is_sorted()
    {
        *turn = Some(collection.turns.wait(context).await?);
    }
    Ok(())
}
