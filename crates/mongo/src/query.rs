//! A query at its beginning, which is where all the collections that it reads are known: whoever sends
//! the command has to be allowed to read each of them. No command begins one another way.

use std::sync::Arc;

use engine::{Cursor, Model, Namespace, Plan, Store};
use evaluation::Context;
use pipeline::exec::other_collections;

use crate::{
    access::Action,
    authorize::check_needs,
    call::Call,
    errors::Result,
    rights::{Need, Object},
};

/// Begins a query of a command. That the collection itself may be read, the command's row has seen to.
///
/// Errors: 13 where a collection that is joined may not be read, and those of the plan.
pub(crate) fn begin_query<S: Store>(
    call: &Call<'_, S>,
    namespace: &Namespace,
    plan: Plan,
    context: Arc<Context>,
) -> Result<Cursor<S>> {
    let joined = other_collections(&plan.stages).into_iter().map(|(database, collection)| {
        let database = database.unwrap_or(&namespace.database);
        let other = Namespace::new(database, collection);
        Need::of(Action::Find, Object::Collection(other))
    });
    let joined: Vec<Need> = joined.collect();
    if !joined.is_empty() {
        check_needs(call, &joined)?;
        call.operation.note_needs(joined);
    }
    Ok(call.door.engine.begin_query(Model::Documents, namespace, plan, context)?)
}
