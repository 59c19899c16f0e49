//! Creates capped collections, caps existing ones, and changes their limits.

use std::sync::Arc;

use document::{DocBuf, Document};
use store::KeyRange;

use super::{NewDocument, prolong::lifetime_of};
use crate::{
    amount::Amount,
    catalog::{Capped, Collection, CollectionState, IndexSpec, ListOrdering, Record},
    engine::{Engine, RecordApply, RecordEdit},
    error::{Error, Halt, Kind},
    keys,
    limits::{COPIED_AT_ONCE, MAX_BATCH},
    names::{Model, Namespace},
    retry::read_in_view,
    row::Row,
    view::{LiveView, Pages},
};

impl Engine {
    /// Creates a capped collection; fails if the collection exists.
    pub async fn create_capped(
        &self,
        model: Model,
        namespace: &Namespace,
        options: Document,
        capped: Capped,
    ) -> Result<Arc<Collection>, Error> {
        let fill = move |record: &mut Record, _| {
            record.set_options(&options);
            record.capped = Some(capped);
            record.add_insertion_order(true);
        };
        self.create_with(model, namespace, Arc::new(fill)).await
    }

    /// Changes the limits of a capped collection. The next insert evicts what exceeds them.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`] if the collection is not capped.
    pub async fn change_capped(
        &self,
        collection: &Arc<Collection>,
        change: impl Fn(Capped) -> Capped + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let edit: Box<RecordEdit<()>> = Box::new(move |state: &CollectionState| {
            let Some(held) = state.record.capped else {
                return Err(Error::new(Kind::Invalid, "the collection is not capped"));
            };
            let changed = change(held);
            let apply = move |record: &mut Record, _| record.capped = Some(changed);
            Ok((changed != held).then(|| (Arc::new(apply) as Arc<RecordApply>, ())))
        });
        self.change_record(collection, &*edit).await?;
        Ok(())
    }

    /// Makes a collection capped, or gives a capped one other limits, and evicts what exceeds them.
    /// Documents that exist are ordered by their creation. All indexes are kept.
    pub async fn convert_to_capped(
        &self,
        collection: &Arc<Collection>,
        capped: Capped,
    ) -> Result<(), Error> {
        self.edit_always(collection, |record| record.add_insertion_order(false)).await?;
        self.build_indexes(collection, IndexSpec::is_insertion_order).await?;
        self.edit_always(collection, move |record| record.capped = Some(capped)).await?;
        self.make_more_room(collection, Amount::default()).await
    }

    /// Makes a change of a record.
    async fn edit_always(
        &self,
        collection: &Arc<Collection>,
        change: impl Fn(&mut Record) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let change: Arc<RecordApply> = Arc::new(move |record: &mut Record, _| change(record));
        let edit: Box<RecordEdit<()>> =
            Box::new(move |_: &CollectionState| Ok(Some((Arc::clone(&change), ()))));
        self.change_record(collection, &*edit).await?;
        Ok(())
    }

    /// Creates a capped collection with the last documents of another collection, as many as fit
    /// into its limit. They keep their times of writing and their own times to live. If copying
    /// fails, the new collection is dropped.
    pub async fn copy_as_capped(
        &self,
        source: &Arc<Collection>,
        target: &Namespace,
        capped: Capped,
    ) -> Result<(), Error> {
        let record = &source.state().record;
        let model = record.model;
        let kept = record.options.get("collation");
        let options = kept.map(|kept| ("collation".to_owned(), kept.clone())).into_iter().collect();
        let made = self.create_capped(model, target, options, capped).await?;
        let copied = self.copy_last(source, &made, capped).await;
        if copied.is_err() {
            self.drop_collection(model, target).await?;
        }
        copied
    }

    /// Copies the last documents of a collection that fit into a limit, in the order in which an
    /// unordered query returns them.
    async fn copy_last(
        &self,
        source: &Arc<Collection>,
        target: &Arc<Collection>,
        capped: Capped,
    ) -> Result<(), Error> {
        let mut left = self.live_amount(source).await?;
        let state = source.state();
        let order = state.record.insertion_order();
        let range = order.map_or_else(KeyRange::all, |order| {
            KeyRange::with_prefix(&keys::index_prefix(order.id))
        });
        let mut pages = Pages::of(range);
        while !pages.is_done() {
            let mut next = pages.clone();
            let read = read_in_view!(self, source, |view| {
                next.clone_from(&pages);
                next_copies(&view, order, &mut next).await
            });
            let (rows, _) = read?;
            pages = next;
            let mut copies = Vec::new();
            for row in rows {
                // What does not fit would be evicted again.
                if capped.admits(left) {
                    copies.push(copy_of(&row)?);
                }
                left = left.minus(Amount::of_body(row.body()));
            }
            let copied =
                self.insert_capped(target, copies, ListOrdering::Ordered, (None, None)).await?;
            if let Some((_, error)) = copied.failed.into_iter().next() {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Returns the next rows, in the given order or else in that of the ids.
async fn next_copies(
    view: &LiveView,
    order: Option<&IndexSpec>,
    pages: &mut Pages,
) -> Result<Vec<Row>, Halt> {
    let Some(order) = order else {
        // The size of a page of rows is limited.
        *pages = pages.clone().with_max_rows(MAX_BATCH);
        return Ok(view.next_rows(pages).await?.unwrap_or_default().items);
    };
    *pages = pages.clone().with_max_rows(COPIED_AT_ONCE);
    let entries = view.next_entries(order, pages).await?.unwrap_or_default().items;
    let mut rows = Vec::with_capacity(entries.len());
    for entry in &entries {
        rows.push(view.row_of(entry).await?);
    }
    Ok(rows)
}

/// Returns a document with its lifetime and the second of its write, to be inserted elsewhere.
fn copy_of(row: &Row) -> Result<NewDocument, Error> {
    let header = row.header().ok_or_else(|| Error::corrupt("a stored row is damaged"))?;
    let lifetime = lifetime_of(&header);
    let document = DocBuf::from_trusted(row.clone().into_body());
    Ok(NewDocument { document, lifetime, since: Some(row.ts) })
}
