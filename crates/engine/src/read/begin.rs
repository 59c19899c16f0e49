//! Creates cursors. Nothing is read here: the views of a query are opened with its first batch, so
//! that the batch's instant is not older than the request.

use std::{collections::VecDeque, sync::Arc};

use evaluation::Context;
use pipeline::exec::Stage;

use super::{
    Cursor, Find, Plan,
    cursor::Work,
    stored_view::{JoinedNames, Resolver},
};
use crate::{
    catalog::Collection,
    engine::Engine,
    error::Error,
    names::{Model, Namespace},
    view::MAIN,
};

impl Engine {
    /// Starts a query on a collection or a stored view; a missing collection is empty.
    ///
    /// # Errors
    ///
    /// Numbers 5, 165 and 195 for views that cannot be resolved; those of the plan.
    pub fn begin_query(
        &self,
        model: Model,
        namespace: &Namespace,
        plan: Plan,
        context: Arc<Context>,
    ) -> Result<Cursor, Error> {
        let collection = self.collection(model, namespace);
        self.begin_query_on(model, namespace, collection, plan, context)
    }

    /// Starts a query as [`begin_query`](Self::begin_query) does, on the collection or stored view
    /// that the caller has found under the name, if it exists.
    ///
    /// # Errors
    ///
    /// Those of [`begin_query`](Self::begin_query).
    pub fn begin_query_on(
        &self,
        model: Model,
        namespace: &Namespace,
        collection: Option<Arc<Collection>>,
        plan: Plan,
        context: Arc<Context>,
    ) -> Result<Cursor, Error> {
        // The views of all collections of a query are opened together, so their names must be known
        // before the first read.
        let resolver = Resolver { engine: self, model, context: &context };
        let main = resolver.resolve(namespace, collection)?;
        let joined = resolver.resolve_joined(namespace, &main, &plan.stages)?;
        let plan = main.plan_below(plan);
        let mut cursor =
            self.unplanned_cursor(model, &main.namespace, main.collection, plan, context);
        cursor.others = joined.collections();
        cursor.joined = Arc::new(joined);
        let state = cursor.collection.as_ref().map(|collection| collection.state());
        cursor.plan_query(state.as_deref())?;
        Ok(cursor)
    }

    /// Creates a query whose access path is not planned yet.
    pub(super) fn unplanned_cursor(
        &self,
        model: Model,
        namespace: &Namespace,
        collection: Option<Arc<Collection>>,
        plan: Plan,
        context: Arc<Context>,
    ) -> Cursor {
        let sort = match plan.stages.first() {
            Some(Stage::Sort { sort, .. }) => Some(sort.clone()),
            _ => None,
        };
        let find = Find { filter: Arc::new(plan.filter), sort, hint: plan.hint };
        Cursor {
            engine: self.clone(),
            model,
            database: namespace.database.clone(),
            collection,
            view_index: MAIN,
            others: Vec::new(),
            joined: Arc::<JoinedNames>::default(),
            find,
            asked: plan.stages,
            share: context.operation_memory.share(),
            context,
            output: plan.output,
            finder: None,
            used: Some(Arc::default()),
            work: Work::Walking { remaining: None },
            pending: VecDeque::new(),
            view: 0,
            first_view: 0,
            follows: false,
            caught_up: false,
        }
    }
}
