//! Whether a writer of one document takes part in the turns of its collection.

use evaluation::Context;

use crate::{
    attempts::Attempts,
    catalog::Collection,
    error::Error,
    read::{Find, Finder},
    turns::Turn,
};

/// Waits for a turn before an attempt, if the first document in the order is found by looking at all and either
/// an earlier attempt has lost or somebody has a turn: those who come later do not overtake who waits. An
/// operation that has a turn keeps it until it is done.
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
