//! Many writers that each need a full scan to find the first document in an order succeed with few
//! scans each, and writers of large documents wait for memory.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::Arc,
    task::{Context as Waking, Poll, Waker},
};

use document::doc;
use engine::{Edited, Error, Find, ListOrdering, Update};
use evaluation::Context;
use expiry::Lifetime;
use pipeline::edit::Edit;
use test_kit::{Kit, Setup, TtlField, context, equal, ready, sort_by};

const ROWS: i32 = 1_500;
const WRITERS: usize = 16;

/// Runs all operations concurrently on this thread.
fn at_once<T>(operations: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
    let mut waking = Waking::from_waker(Waker::noop());
    let mut waiting: Vec<_> = operations.into_iter().map(Some).collect();
    let mut done = Vec::new();
    for _ in 0..1_000_000 {
        for slot in &mut waiting {
            let Some(operation) = slot else { continue };
            if let Poll::Ready(result) = operation.as_mut().poll(&mut waking) {
                done.push(result);
                *slot = None;
            }
        }
        if waiting.iter().all(Option::is_none) {
            return done;
        }
    }
    panic!("an operation never ends");
}

fn kit() -> Kit {
    let kit = Kit::default();
    let documents = (0..ROWS).map(|id| {
        let document = doc! { "_id": id, "n": ROWS - id, "state": 0, "pad": "x".repeat(1000) };
        (document.to_buf(), Lifetime::Inherit)
    });
    let documents = documents.collect();
    ready(kit.engine.insert(&kit.collection(), documents, ListOrdering::Ordered)).unwrap();
    kit
}

/// Selects the first document with this state in the order of `n`, which has no index.
fn first() -> Find {
    Find { sort: Some(sort_by("n", false)), ..Find::new(equal("state", 0)) }
}

/// Returns the total work in full scans, of which a single writer needs one.
fn scans_spent(contexts: &[Arc<Context>]) -> u64 {
    let (kit, alone) = (kit(), context());
    ready(kit.engine.find_and_remove(&kit.collection(), &first(), &alone)).unwrap();
    let spent: u64 = contexts.iter().map(|context| context.budget.spent()).sum();
    spent.div_ceil(alone.budget.spent())
}

/// Maximum work of all writers, in full scans: three per writer. Each scans at most twice,
/// concurrently with the others and in its turn.
const MOST: u64 = 3 * WRITERS as u64;

#[test]
fn updates_of_the_first_in_an_order_take_each_another_document() {
    let kit = kit();
    let collection = kit.collection();
    let edit = Edit::Replacement(doc! { "state": 1 });
    let contexts: Vec<Arc<Context>> = (0..WRITERS).map(|_| context()).collect();
    let update = |context: &Arc<Context>| Update {
        find: first(),
        edit: &edit,
        many: false,
        upsert: false,
        context: Arc::clone(context),
        writer: &TtlField,
    };
    let updates: Vec<Update<'_>> = contexts.iter().map(update).collect();
    let operations = updates.iter().map(|update| {
        let operation: Pin<Box<dyn Future<Output = Result<Edited, Error>> + '_>> =
            Box::pin(kit.engine.find_and_update(&collection, update));
        operation
    });
    let done = at_once(operations.collect());
    let found: BTreeSet<Vec<u8>> =
        done.into_iter().map(|edited| edited.unwrap().before.unwrap().to_vec()).collect();
    assert_eq!(found.len(), WRITERS);
    let scans_spent = scans_spent(&contexts);
    assert!(scans_spent <= MOST, "{scans_spent} scans of {WRITERS} writers");
}

#[test]
fn removals_of_the_first_in_an_order_take_each_another_document() {
    let kit = kit();
    let collection = kit.collection();
    let contexts: Vec<Arc<Context>> = (0..WRITERS).map(|_| context()).collect();
    let find = first();
    let operations = contexts.iter().map(|context| {
        let operation: Pin<Box<dyn Future<Output = Result<Option<bytes::Bytes>, Error>> + '_>> =
            Box::pin(kit.engine.find_and_remove(&collection, &find, context));
        operation
    });
    let done = at_once(operations.collect());
    let found: BTreeSet<Vec<u8>> =
        done.into_iter().map(|removed| removed.unwrap().unwrap().to_vec()).collect();
    assert_eq!(found.len(), WRITERS);
    let scans_spent = scans_spent(&contexts);
    assert!(scans_spent <= MOST, "{scans_spent} scans of {WRITERS} writers");
}

/// An operation that returns how many documents it wrote.
type Counting<'a> = Pin<Box<dyn Future<Output = Result<usize, Error>> + 'a>>;

/// Size of a large document. Rounded up and in four copies it needs 8 MiB.
const LARGE: usize = 1_500_000;

/// Creates a collection of large documents, in a server that writes `at_once` of them at a time.
fn kit_of_large_documents(at_once: usize) -> Kit {
    let kit = Kit::new(Setup { large_write_bytes: at_once << 23, ..Setup::default() });
    for id in 0..i32::try_from(WRITERS).unwrap() {
        let document = doc! { "_id": id, "n": -id, "state": 0, "pad": "x".repeat(LARGE) };
        let documents = vec![(document.to_buf(), Lifetime::Inherit)];
        ready(kit.engine.insert(&kit.collection(), documents, ListOrdering::Ordered)).unwrap();
    }
    kit
}

#[test]
fn writers_of_large_documents_wait_for_memory() {
    for admitted in [1, 3, WRITERS] {
        let kit = kit_of_large_documents(admitted);
        let collection = kit.collection();
        let edit = Edit::Replacement(doc! { "state": 1 });
        let update = |id: usize| Update {
            find: Find::new(equal("_id", i32::try_from(id).unwrap())),
            edit: &edit,
            many: id.is_multiple_of(2),
            upsert: false,
            context: context(),
            writer: &TtlField,
        };
        let updates: Vec<Update<'_>> = (0..WRITERS).map(update).collect();
        let mut operations: Vec<_> =
            updates.iter().map(|update| Box::pin(kit.engine.update(&collection, update))).collect();
        let mut waking = Waking::from_waker(Waker::noop());
        // No memory is released before the commit is published.
        kit.store.gate().shut();
        let before = kit.store.turnstile().row_reads();
        for _ in 0..100 {
            for operation in &mut operations {
                assert!(operation.as_mut().poll(&mut waking).is_pending());
            }
        }
        // Every writer has read a row without memory, and those with memory have read their rows
        // again.
        let reads = kit.store.turnstile().row_reads() - before;
        assert_eq!(reads, u64::try_from(WRITERS + admitted).unwrap());
        kit.store.gate().open();
        let operations = operations.into_iter().map(|operation| {
            let operation: Pin<Box<dyn Future<Output = _> + '_>> = operation;
            operation
        });
        let done = at_once(operations.collect());
        assert!(done.into_iter().all(|updated| updated.unwrap().modified == 1));
    }
}

#[test]
fn large_documents_are_written_in_an_order_and_by_many_at_a_time() {
    let kit = kit_of_large_documents(1);
    let collection = kit.collection();
    let edit = Edit::Replacement(doc! { "state": 1, "pad": "x".repeat(2 * LARGE) });
    let update = |many: bool| Update {
        find: if many { Find::new(equal("state", 1)) } else { first() },
        edit: &edit,
        many,
        upsert: false,
        context: context(),
        writer: &TtlField,
    };
    let updates: Vec<Update<'_>> = (0..WRITERS).map(|at| update(at % 4 == 3)).collect();
    let contexts: Vec<Arc<Context>> = (0..4).map(|_| context()).collect();
    let find = first();
    let mut operations: Vec<Counting<'_>> = Vec::new();
    for context in &contexts {
        operations.push(Box::pin(async {
            let removed = kit.engine.find_and_remove(&collection, &find, context).await?;
            Ok(usize::from(removed.is_some()))
        }));
    }
    for update in &updates {
        operations.push(match update.many {
            true => Box::pin(async { kit.engine.update(&collection, update).await.map(|_| 0) }),
            false => Box::pin(async {
                let edited = kit.engine.find_and_update(&collection, update).await?;
                Ok(usize::from(edited.changed))
            }),
        });
    }
    let done: usize = at_once(operations).into_iter().map(Result::unwrap).sum();
    // Each writer found a first document of its own.
    assert_eq!(done, WRITERS);
}
