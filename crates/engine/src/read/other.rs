//! The rows of other collections that stages ask for: read in the views that were opened together
//! with the query's own, so that a whole batch has one instant. Each request is a query of its own,
//! planned and filled like the outer one, but in one piece: a stage gets all rows or an error.

use std::sync::Arc;

use memory::Share;
use pipeline::exec::{self, Request, Stage};
use store::Store;

use super::{Batch, BatchLimit, Cursor, Plan};
use crate::{
    access::Hint,
    error::{Error, Halt, Kind},
    limits::MAX_LOOKUP_BYTES,
    names::Namespace,
    view::Views,
};

/// The other collections that stages read, each once.
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

impl<S: Store> Cursor<S> {
    /// The rows of another collection that a stage wants, and what they hold.
    pub(super) async fn rows_for_stage(
        &self,
        views: &Views<S>,
        request: Request,
    ) -> Result<(Vec<exec::Row>, Share), Halt> {
        let database = request.database.unwrap_or_else(|| self.database.clone());
        let namespace = Namespace::new(database, request.collection);
        // The names were collected from the same stages before the views were opened.
        let place = views.place_of(&namespace).ok_or_else(|| {
            let message = format!("{namespace} is read but was not opened");
            Error::new(Kind::Conflict, message)
        })?;
        let plan =
            Plan { filter: request.filter, stages: request.stages.to_vec(), hint: Hint::None };
        let view = views.view_at(place);
        let collection = view.map(|view| Arc::clone(&view.collection));
        let mut inner =
            self.engine.unplanned_cursor(self.model, &namespace, collection, plan, request.context);
        inner.place = place;
        inner.used.clone_from(&self.used);
        inner.plan_query(view.map(|view| &*view.state))?;
        let all = BatchLimit { documents: usize::MAX, bytes: MAX_LOOKUP_BYTES };
        // The origins come along: an outer document expires in part when an inner one does.
        let sources = Some(Vec::new());
        let mut batch = Batch { sources, ..Batch::of_operation(&inner.context) };
        // Boxed, since filling a batch may ask for rows again (a stage inside a stage).
        Box::pin(inner.fill_batch(views, all, &mut batch)).await?;
        if !batch.done {
            let message = "documents of another collection exceed the memory limit of a stage";
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
