//! An operation over many documents yields repeatedly, one over few does not, and a cancelled one
//! stops midway.

use std::{
    future::Future,
    sync::Arc,
    task::{Context as Waking, Poll, Waker},
};

use document::{Path, doc};
use engine::{BatchLimit, Find, Kind, ListOrdering, Model, Plan, Update};
use evaluation::{Budget, Context, Watch};
use pipeline::{
    Filter,
    edit::Edit,
    exec::{Stage, Unwind},
};
use test_kit::{Kit, TtlField, compare, context, equal, ready, sort_by};

const ROWS: usize = 2_000;

/// Counts the polls until the operation is done.
fn polls<T>(operation: impl Future<Output = T>) -> (usize, T) {
    let mut operation = std::pin::pin!(operation);
    let mut waking = Waking::from_waker(Waker::noop());
    for polls in 1..100_000 {
        if let Poll::Ready(done) = operation.as_mut().poll(&mut waking) {
            return (polls, done);
        }
    }
    panic!("an operation never ends");
}

fn kit() -> Kit {
    let kit = Kit::default();
    let documents = (0..ROWS as i32).map(|id| {
        let document = doc! { "_id": id, "a": document::array![1, 2] };
        (document.to_buf(), expiry::Lifetime::from_ttl(None))
    });
    let documents = documents.collect();
    ready(kit.engine.insert(&kit.collection(), documents, ListOrdering::Ordered))
        .expect("inserted");
    kit
}

fn read(kit: &Kit, plan: Plan, context: Arc<Context>) -> (usize, Result<usize, engine::Error>) {
    let all = BatchLimit { documents: usize::MAX, bytes: usize::MAX };
    let cursor = kit.engine.begin_query(Model::Documents, &kit.namespace(), plan, context);
    let mut cursor = cursor.expect("a cursor");
    let (polls, batch) = polls(cursor.next_batch(all));
    (polls, batch.map(|batch| batch.documents.len()))
}

fn plans() -> Vec<(Plan, usize)> {
    let all = || Plan::new(Filter::always());
    let sort = Stage::Sort { sort: sort_by("a", false), limit: None };
    let unwind = Unwind { path: Path::new("a"), index: None, keep_empty: false };
    vec![
        (all(), ROWS),
        (Plan::new(compare("_id", pipeline::filter::Comparison::Lt, -1)), 0),
        (Plan::new(equal("b", 1)), 0),
        (all().with_stages(vec![sort]), ROWS),
        (all().with_stages(vec![Stage::Unwind(unwind), Stage::Count("n".into())]), 1),
        (all().with_stages(vec![Stage::Facet(vec![("f".into(), Arc::default())])]), 1),
    ]
}

#[test]
fn long_reads_are_polled_often_and_short_ones_once() {
    let kit = kit();
    for (at, (plan, found)) in plans().into_iter().enumerate() {
        let (polls, rows) = read(&kit, plan, context());
        assert_eq!(rows.unwrap(), found, "{at}");
        // The second plan is an empty range.
        assert!(if at == 1 { polls == 1 } else { 7 <= polls }, "{at}: {polls}");
    }
    let (polls, rows) = read(&kit, Plan::new(equal("_id", 7)), context());
    assert_eq!((polls, rows.unwrap()), (1, 1));
}

#[test]
fn long_writes_are_polled_often() {
    let kit = kit();
    let edit = Edit::Pipeline(Vec::new());
    let update = Update {
        find: Find::new(Filter::always()),
        edit: &edit,
        many: true,
        upsert: false,
        context: context(),
        writer: &TtlField,
    };
    let (often, updated) = polls(kit.engine.update(&kit.collection(), &update));
    assert_eq!(updated.unwrap().matched, ROWS);
    assert!(7 <= often, "{often}");
    let find = Find::new(Filter::always());
    let (often, removed) = polls(kit.engine.remove(&kit.collection(), &find, true, &context()));
    assert_eq!(removed.unwrap().count, ROWS);
    assert!(7 <= often, "{often}");
}

struct Ended;

impl Watch for Ended {
    fn check_end(&self) -> Result<(), evaluation::Error> {
        Err(evaluation::Error::new(evaluation::Kind::Stopped, 50, "its time is over"))
    }
}

#[test]
fn operations_end_when_they_are_told_to() {
    let kit = kit();
    let ended = || {
        let budget = Arc::new(Budget::watched(Ended));
        Arc::new(Context { budget, ..Context::default() })
    };
    for (at, (plan, found)) in plans().into_iter().enumerate().filter(|(at, _)| *at != 1) {
        let (_, rows) = read(&kit, plan, ended());
        let stopped = matches!(rows, Err(engine::Error { kind: Kind::Stopped(_), .. }));
        assert!(stopped, "{at}, not {found} rows");
    }
    let find = Find::new(Filter::always());
    let removed = ready(kit.engine.remove(&kit.collection(), &find, true, &ended()));
    assert!(matches!(removed, Err(engine::Error { kind: Kind::Stopped(_), .. })));
}
