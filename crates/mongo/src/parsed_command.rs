//! What a command takes once it is parsed, and how a large one is run. A filter of a megabyte
//! becomes a tree of many megabytes, so the elements of a message are charged before they are
//! parsed. What a command means is not known here.

use std::pin::Pin;

use engine::RunApart;

use crate::{
    command_table::CommandTable,
    limits::{ELEMENT_BYTES, LONG_BYTES},
    wire::Message,
};

/// About what a command takes once it is parsed, bytes: a fixed size for each element at any depth,
/// in the dearest case. Documents that are stored as they came are not parsed.
pub(crate) fn parsed_bytes(message: &Message, commands: &CommandTable) -> usize {
    let parsed = match commands.find_body(message.body()) {
        Some(known) if known.row.stores_bytes => 0,
        _ => message.elements.saturating_mul(ELEMENT_BYTES),
    };
    let copy = message.as_it_came.as_ref().map_or(0, |bytes| bytes.len());
    parsed.saturating_add(copy).saturating_add(size_of_val(message.not_utf8.as_slice()))
}

/// Runs a command of which `weight` bytes are parsed. While a large one is parsed, kept or dropped
/// others would wait, so its steps run apart from the workers.
pub(crate) async fn run_by_weight<T>(
    weight: usize,
    run_apart: RunApart,
    run: Pin<&mut impl Future<Output = T>>,
) -> T {
    if weight < LONG_BYTES {
        return run.await;
    }
    engine::poll_apart(run_apart, run).await
}
