//! Rows of other collections that stages request, read in views opened together with the query's
//! own, so that a batch has one instant. Each request is a nested query, planned and filled like
//! the outer one but in one piece: a stage gets all rows or an error.

use std::sync::Arc;

use memory::Share;
use pipeline::exec::{self, Request, Stage};

use super::{Batch, BatchLimit, Cursor, Plan};
use crate::{
    error::{Error, Halt, Kind},
    limits::MAX_LOOKUP_BYTES,
    names::Namespace,
    view::Views,
};

/// Returns the other collections that stages read, without duplicates.
pub(super) fn namespaces_read(stages: &[Stage], database: &str) -> Vec<Namespace> {
    let mut names = Vec::new();
    for (other, collection) in exec::other_collections(stages) {
        let namespace = Namespace::new(other.unwrap_or(database), collection);
        if !names.contains(&namespace) {
            names.push(namespace);
        }
    }
    names
}

impl Cursor {
    /// Returns the requested rows of another collection and their memory reservation.
    pub(super) async fn rows_for_stage(
        &self,
        views: &Views,
        request: Request,
    ) -> Result<(Vec<exec::Row>, Share), Halt> {
        let database = request.database.unwrap_or_else(|| self.database.clone());
        let asked = Namespace::new(database, request.collection);
        let plan = Plan::new(request.filter).with_stages(request.stages.to_vec());
        let (namespace, plan) = self.joined.below(asked, plan.with_leading_filters())?;
        // The views were opened for the names in these same stages.
        let view_index = views.view_index_of(&namespace).ok_or_else(|| {
            let message = format!("{namespace} is read but was not opened");
            Error::new(Kind::Conflict, message)
        })?;
        let view = views.view_at(view_index);
        let collection = view.map(|view| Arc::clone(&view.collection));
        let mut inner =
            self.engine.unplanned_cursor(self.model, &namespace, collection, plan, request.context);
        inner.view_index = view_index;
        inner.joined = Arc::clone(&self.joined);
        inner.used.clone_from(&self.used);
        inner.plan_query(view.map(|view| &*view.state))?;
        let all = BatchLimit { documents: usize::MAX, bytes: MAX_LOOKUP_BYTES };
        // Origins are needed: an outer document partly expires when an inner one does.
        let sources = Some(Vec::new());
        let mut batch = Batch { sources, ..Batch::of_operation(&inner.context) };
        // Boxed, because filling a batch may request rows recursively.
        Box::pin(inner.fill_batch(views, all, &mut batch)).await?;
        if !batch.done {
            let message = "the documents of a joined collection exceed the memory limit of a stage";
            return Err(Error::new(Kind::TooLarge, message).into());
        }
        let sources = batch.sources.unwrap_or_default().into_iter();
        let rows = batch.documents.into_iter().zip(sources);
        let row = |(bytes, source): (bytes::Bytes, _)| exec::Row {
            document: document::DocBuf::from_trusted(bytes),
            source,
        };
        Ok((rows.map(row).collect(), batch.held))
    }
}
