//! The memory of parsed commands, and the execution of large ones. A filter of a megabyte becomes a
//! tree of many megabytes, so the elements of a message are charged before they are parsed. This
//! module does not interpret commands.

use std::pin::Pin;

use engine::BlockInPlace;

use crate::{
    command_table::CommandTable,
    limits::{ELEMENT_BYTES, LONG_BYTES},
    wire::Message,
};

/// Returns the estimated memory of a parsed command in bytes: a fixed worst-case size for each
/// element at any depth. Documents that are stored as they arrive are not parsed.
pub(crate) fn parsed_bytes(message: &Message, commands: &CommandTable) -> usize {
    let parsed = match commands.find_body(message.body()) {
        Some(known) if known.row.stores_bytes => 0,
        _ => message.elements.saturating_mul(ELEMENT_BYTES),
    };
    let copy = message.as_it_came.as_ref().map_or(0, |bytes| bytes.len());
    parsed.saturating_add(copy).saturating_add(size_of_val(message.not_utf8.as_slice()))
}

/// Runs a command with `weight` bytes of parsed data. A large command is polled outside the worker
/// threads, since parsing and dropping it would block other tasks.
pub(crate) async fn run_by_weight<T>(
    weight: usize,
    block_in_place: BlockInPlace,
    run: Pin<&mut impl Future<Output = T>>,
) -> T {
    if weight < LONG_BYTES {
        return run.await;
    }
    engine::poll_in_place(block_in_place, run).await
}
