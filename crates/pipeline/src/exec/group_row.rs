//! Creates the states of a new group, and the row of a finished one.

use document::{DocBuilder, DocRef, Document, Value, ValueRef};
use evaluation::{Context, Error, OperationMemory};

use super::{
    Row,
    size::{append_checked, room_for},
};
use crate::{
    expr::Env,
    group::{Field, GroupState},
};

/// Returns the states of a new group with this key.
pub(super) fn new_states(
    fields: &[Field],
    id: ValueRef<'_>,
    context: &Context,
) -> Result<Vec<GroupState>, Error> {
    let nothing = Document::new();
    let root = id.as_document().unwrap_or(DocRef::Tree(&nothing));
    let env = Env::new(root, context);
    fields.iter().map(|field| field.start_state(&env)).collect()
}

/// Returns the row of a group: its key as `_id`, then its computed fields.
pub(super) fn group_row(
    id: &Value,
    fields: &[Field],
    states: Vec<GroupState>,
    operation_memory: &OperationMemory,
) -> Result<Row, Error> {
    let mut builder = DocBuilder::new();
    append_checked(&mut builder, "_id", id.as_ref())?;
    for (field, state) in fields.iter().zip(states) {
        let value = state.into_value();
        // Large lists exist twice while they are written.
        let _room = room_for(builder.len() + value.as_ref().encoded_len(), operation_memory)?;
        append_checked(&mut builder, &field.name, value.as_ref())?;
    }
    Ok(Row::not_stored(builder.finish()))
}
