//! Starts a query. All collections that it reads are known at this point, and the sender's right to
//! read each of them is checked. Every command starts its queries this way.

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

/// Starts a query of a command, whose row has checked the right to read the collection itself.
///
/// Fails with 13 if the sender may not read a joined collection, and with the errors of the plan.
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
