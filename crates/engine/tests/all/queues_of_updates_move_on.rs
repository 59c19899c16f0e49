//! The queue of a document moves on: with thousands of operations in it, with operations that were
//! told to end, and beside writers that do not take turns.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use document::{Value, doc};
use engine::{Hint, Rules};
use evaluation::{Budget, Context, Watch};
use test_kit::{equal, plain_index};

use crate::{
    transactions::Tx,
    updates_are_batched::{
        Updating, add_without_turn, draft, held, increment, kit, n_of, number, one, set, stored,
        updating, updating_in,
    },
};

/// Ends an operation once the flag is set.
#[derive(Clone, Default)]
struct EndFlag(Arc<AtomicBool>);

impl Watch for EndFlag {
    fn check_end(&self) -> Result<(), evaluation::Error> {
        match self.0.load(Relaxed) {
            true => Err(evaluation::Error::new(evaluation::Kind::Stopped, 11601, "told to end")),
            false => Ok(()),
        }
    }
}

#[test]
fn ten_thousand_updates_take_few_commits() {
    let kit = kit(Rules::default());
    let before = kit.engine.store().published();
    let edits = (1..10_000).map(|_| (one(), increment(), None)).collect();
    let (first, mut waiting) = held(&kit, edits);
    kit.store.gate().open();
    assert_eq!(n_of(first.finish().unwrap().before.as_ref()), 0);
    let mut found = BTreeSet::new();
    for _ in 0..200 {
        waiting.retain_mut(|it| match it.poll() {
            Some(edited) => !found.insert(n_of(edited.unwrap().before.as_ref())),
            None => true,
        });
    }
    assert_eq!(found.into_iter().collect::<Vec<_>>(), (1..10_000).collect::<Vec<_>>());
    assert_eq!(number(&stored(&kit), "n"), 10_000);
    // No batch has more than 256 updates.
    let commits = kit.engine.store().published() - before;
    assert!((41..=45).contains(&commits), "{commits} commits");
}

#[test]
fn an_operation_that_was_told_to_end_leaves_its_turn_to_the_next() {
    let (kit, flag) = (kit(Rules::default()), EndFlag::default());
    let (first, mut waiting) = held(&kit, vec![(one(), increment(), None)]);
    let budget = Arc::new(Budget::watched(flag.clone()));
    let context = Arc::new(Context { budget, ..Context::default() });
    let mut told = updating_in(context, &kit, one(), increment(), None);
    assert!(told.poll().is_none());
    waiting.push(updating(&kit, one(), increment(), None));
    assert!(waiting[1].poll().is_none());
    flag.0.store(true, Relaxed);
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    assert!(waiting[0].poll().is_none(), "it has passed the turn on");
    assert!(told.finish().is_err());
    // The last one commits for both.
    assert!(waiting.pop().unwrap().finish().unwrap().changed);
    assert!(waiting.pop().unwrap().finish().unwrap().changed);
    assert_eq!(number(&stored(&kit), "n"), 3);
}

#[test]
fn writers_without_turns_do_not_refuse_a_batch_for_ever() {
    let kit = kit(Rules::default());
    let edits = (0..8).map(|_| (one(), increment(), None)).collect();
    let (first, mut waiting) = held(&kit, edits);
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    let mut others = 0;
    for _ in 0..30 {
        waiting.retain_mut(|it| {
            // Between each part of a batch and the next one.
            assert_eq!(add_without_turn(&kit).unwrap().modified, 1);
            others += 1;
            it.poll().is_none_or(|edited| !edited.unwrap().changed)
        });
    }
    assert!(waiting.is_empty(), "{} wait for ever", waiting.len());
    assert_eq!(number(&stored(&kit), "n"), 1 + 8 + others);
}

#[test]
fn a_batch_waits_for_a_transaction_that_has_written_its_document() {
    let kit = kit(Rules::default());
    let (first, mut waiting) = held(&kit, (0..3).map(|_| (one(), increment(), None)).collect());
    kit.store.gate().open();
    assert!(first.finish().unwrap().changed);
    // The transaction writes while the batch is drafted.
    assert!(waiting[0].poll().is_none());
    let tx = Tx::begin(&kit);
    tx.replace(doc! { "_id": 1, "n": 50, "v": 0 }, false).unwrap();
    for _ in 0..5 {
        waiting.iter_mut().for_each(|it| assert!(it.poll().is_none()));
    }
    assert!(tx.commit().unwrap(), "updates outside of it do not refuse it");
    let mut seen: Vec<_> =
        waiting.into_iter().map(|it| n_of(it.finish().unwrap().before.as_ref())).collect();
    seen.sort_unstable();
    assert_eq!(seen, [50, 51, 52]);
}

#[test]
fn a_batch_ends_before_an_update_that_makes_an_index_multikey() {
    let kit = kit(Rules::default());
    kit.create_index(plain_index("a")).unwrap();
    let list = Value::Array(vec![Value::Int32(4), Value::Int32(5)]);
    let edits = vec![(one(), increment(), None), (one(), set("a", list), None)];
    let (first, mut waiting) = held(&kit, edits);
    draft(&kit, first, &mut waiting);
    kit.store.gate().open();
    let done = waiting.into_iter().map(Updating::finish);
    assert!(done.into_iter().all(|edited| edited.unwrap().changed));
    for value in [4, 5] {
        let found = kit.find_documents(equal("a", value), Hint::None).unwrap();
        assert_eq!(found.len(), 1, "{value}");
    }
    assert_eq!(number(&stored(&kit), "n"), 2);
}
