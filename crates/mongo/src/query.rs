//! Starts a query. All collections that it reads are known at this point, and the sender's right to
//! read each of them is checked. Every command starts its queries this way.

use std::sync::Arc;

use engine::{Collection, Cursor, Model, Namespace, Plan};
use evaluation::Context;
use pipeline::exec::other_collections;

use crate::{
    access::Action,
    authorize::check_requirements,
    call::Call,
    errors::{Error, Result},
    rights::{Object, Requirement},
    stored_view::is_view,
};

/// Starts a query of a command on the collection that the command has found under the name, if it
/// exists. The command looks its collection up once, so that its checks, the default
/// collation and the query refer to the same one. The right to read the collection `namespace` has
/// already been checked as a right that the command's row requires.
///
/// Fails with 13 if the sender may not read a joined collection, with 5626500 if a view is searched
/// by distance, and with the errors of the plan.
pub(crate) fn begin_query(
    call: &Call<'_>,
    namespace: &Namespace,
    collection: Option<Arc<Collection>>,
    plan: Plan,
    context: Arc<Context>,
) -> Result<Cursor> {
    // A view is read by a pipeline, in which only a first stage can sort by distance.
    if plan.filter.near().is_some()
        && call.find_collection(namespace).is_some_and(|held| is_view(&held))
    {
        return Err(Error::from(mongo_query::filter::refused_by_distance()));
    }
    let joined = other_collections(&plan.stages).into_iter().map(|(database, collection)| {
        let database = database.unwrap_or(&namespace.database);
        let other = Namespace::new(database, collection);
        Requirement::of(Action::Find, Object::Collection(other))
    });
    let joined: Vec<Requirement> = joined.collect();
    if !joined.is_empty() {
        check_requirements(call, &joined)?;
        call.operation.record_requirements(joined);
    }
    Ok(call.engine().begin_query_on(Model::Documents, namespace, collection, plan, context)?)
}
