//! Opens an engine on a store: reads the catalog, removes what an unfinished change left behind.

use std::{collections::BTreeSet, sync::Arc};

use clock::Clock;
use store::{Direction, Limit, Range, Snapshot, Space, Store};

use super::{Engine, Inner};
use crate::{
    Collection, Dialect, Error, Record, Rules, State,
    catalog::{Map, decode},
    expire::{Persist, Reaper},
    keys,
    limits::{PAGE_BYTES, PAGE_ROWS},
    resource::Resources,
    view::Holds,
};

/// Parts and settings of an engine.
pub struct Options {
    /// The database clock, which also stamps the store's commits.
    pub clock: Arc<Clock>,
    /// The language that stored filters are in.
    pub dialect: Arc<dyn Dialect>,
    /// How long a document has been dead before its bytes may go.
    pub reap_delay: std::time::Duration,
    /// The rules of views and order; all of them, except in tests of the tests.
    pub rules: Rules,
    /// How a moved clock becomes durable.
    pub persist: Arc<dyn Persist>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("reap_delay", &self.reap_delay).finish_non_exhaustive()
    }
}

impl<S: Store> Engine<S> {
    /// Opens an engine on a store whose commits are stamped by the same clock.
    pub async fn open(store: S, options: Options) -> Result<Self, Error> {
        store.create_space(Space::Catalog)?;
        store.create_space(Space::Counts)?;
        let map = Arc::new(Map::default());
        let mut known = BTreeSet::from([Space::Catalog, Space::Counts]);
        for record in records(&store).await? {
            known.extend([Space::Rows(record.id), Space::Index(record.id)]);
            store.create_space(Space::Rows(record.id))?;
            store.create_space(Space::Index(record.id))?;
            let (model, namespace) = (record.model, record.namespace.clone());
            let state = State::new(record, &*options.dialect)?;
            map.insert(model, namespace, Arc::new(Collection::new(state)));
        }
        for space in store.spaces() {
            if !known.contains(&space) {
                store.drop_space(space)?;
            }
        }
        let resources = Resources::open(&store).await?;
        let reaper = Arc::new(Reaper::new(options.reap_delay));
        store.set_drop_predicate(reaper.predicate());
        let inner = Inner {
            store,
            clock: options.clock,
            map,
            resources,
            holds: Arc::new(Holds::default()),
            reaper,
            dialect: options.dialect,
            rules: options.rules,
            persist: options.persist,
            moving: tokio::sync::Mutex::default(),
        };
        let engine = Self { inner: Arc::new(inner) };
        engine.purge_leftovers().await?;
        Ok(engine)
    }
}

async fn records<S: Store>(store: &S) -> Result<Vec<Record>, Error> {
    let snapshot = store.snapshot();
    let limit = Limit { rows: PAGE_ROWS, bytes: PAGE_BYTES };
    let mut records = Vec::new();
    let mut rest = Some(Range::prefix(keys::RECORDS));
    while let Some(range) = rest {
        let page = snapshot.scan(Space::Catalog, &range, Direction::Forward, limit).await?;
        for (_, value) in &page.rows {
            records.push(decode(value)?);
        }
        rest = page
            .rows
            .last()
            .filter(|_| page.more)
            .map(|(key, _)| range.after(key, Direction::Forward));
    }
    Ok(records)
}
