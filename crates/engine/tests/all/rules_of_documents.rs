//! Each committed version of a document meets the rule of its collection, even if the rule or the
//! document changes while the write is decided.

use std::sync::Arc;

use document::{DocRef, Document, Number, doc};
use engine::{
    Dialect, DocumentRule, Edited, Error, Find, Kind, ListOrdering, Model, NewDocument, Record,
    RuleContext, Update,
};
use evaluation::Context;
use expiry::Lifetime;
use pipeline::{Filter, edit::Edit};
use test_kit::{Kit, Setup, Task, TtlField, equal, ready};

/// A dialect whose rule is that `a` does not exceed the option `most`.
#[derive(Debug)]
struct Limits;

#[derive(Debug)]
struct AtMost(i64);

fn number(value: Option<document::ValueRef<'_>>) -> Option<i64> {
    Number::of(value?)?.to_i64_exact()
}

impl Dialect for Limits {
    fn parse_filter(&self, _: Model, _: DocRef<'_>) -> Result<Filter, String> {
        Ok(Filter::always())
    }

    fn document_rule(&self, record: &Record) -> Option<Arc<dyn DocumentRule>> {
        let most = number(record.options.get("most").map(|most| most.as_ref()))?;
        Some(Arc::new(AtMost(most)))
    }
}

impl DocumentRule for AtMost {
    fn check(
        &self,
        document: DocRef<'_>,
        before: Option<DocRef<'_>>,
        _: &Context,
    ) -> Result<(), Error> {
        let exceeds = |of: DocRef<'_>| number(of.get("a")).is_some_and(|a| self.0 < a);
        if !exceeds(document) || before.is_some_and(exceeds) {
            return Ok(());
        }
        let details = doc! { "most": self.0 };
        Err(Error::new(Kind::FailedRule { details }, "too much"))
    }
}

fn kit() -> Kit {
    Kit::new(Setup { dialect: Arc::new(Limits), ..Setup::default() })
}

fn limit(kit: &Kit, most: i64) {
    let change = move |_: &Document| doc! { "most": most };
    ready(kit.engine.change_options(&kit.collection(), change)).unwrap();
}

fn is_refused(error: &Error) -> bool {
    matches!(error.kind, Kind::FailedRule { .. })
}

/// Inserts a document, checked unless `bypass`; returns whether it was inserted.
async fn insert(
    engine: engine::Engine,
    collection: Arc<engine::Collection>,
    document: Document,
    bypass: bool,
) -> bool {
    let context = test_kit::context();
    let rule: &dyn RuleContext = &*context;
    let new = NewDocument { document: document.to_buf(), lifetime: Lifetime::Inherit, since: None };
    let rule = (!bypass).then_some(rule);
    let inserted =
        engine.insert_since(&collection, vec![new], ListOrdering::Ordered, None, rule).await;
    let inserted = inserted.unwrap();
    assert!(inserted.failed.iter().all(|(_, error)| is_refused(error)), "{inserted:?}");
    inserted.count == 1
}

async fn replace(
    engine: engine::Engine,
    collection: Arc<engine::Collection>,
    document: Document,
    upsert: bool,
) -> Result<Edited, Error> {
    let find = Find::new(equal("_id", document.get("_id").unwrap().clone()));
    let edit = Edit::Replacement(document);
    let update = Update {
        find,
        edit: &edit,
        many: false,
        upsert,
        context: test_kit::context(),
        writer: &TtlField,
    };
    engine.find_and_update(&collection, &update).await
}

#[test]
fn a_write_that_was_decided_before_a_change_of_the_rule_is_checked_again() {
    for write in 0..3 {
        for reads in 1..=3 {
            let kit = kit();
            limit(&kit, 10);
            kit.insert(doc! { "_id": 1, "a": 1 }).unwrap();
            let (engine, collection) = (kit.engine.clone(), kit.collection());
            kit.store.turnstile().stop_nth(reads);
            let mut task = Task::new(async move {
                match write {
                    0 => insert(engine, collection, doc! { "_id": 2, "a": 9 }, false).await,
                    1 => {
                        replace(engine, collection, doc! { "_id": 1, "a": 9 }, false).await.is_ok()
                    }
                    _ => replace(engine, collection, doc! { "_id": 2, "a": 9 }, true).await.is_ok(),
                }
            });
            let early = task.poll();
            kit.store.turnstile().disarm();
            if early.is_none() {
                limit(&kit, 5);
            }
            kit.store.turnstile().open();
            let written = early.unwrap_or_else(|| task.finish());
            assert_eq!(written, early.is_some(), "write {write} stopped at read {reads}");
            let all = kit.find_documents(Filter::always(), engine::Hint::None).unwrap();
            let most = all.iter().filter_map(|it| number(it.get("a").map(|a| a.as_ref()))).max();
            assert_eq!(most, Some(if written { 9 } else { 1 }), "{all:?}");
        }
    }
}

#[test]
fn the_rule_sees_the_version_that_is_replaced() {
    let kit = kit();
    kit.insert(doc! { "_id": 1, "a": 20 }).unwrap();
    limit(&kit, 10);
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    let write = |document: Document| {
        ready(replace(engine.clone(), Arc::clone(&collection), document, false))
    };
    write(doc! { "_id": 1, "a": 21 }).unwrap();
    write(doc! { "_id": 1, "a": 1 }).unwrap();
    assert!(is_refused(&write(doc! { "_id": 1, "a": 21 }).unwrap_err()));
    let insert = |a: i32, bypass| {
        let document = doc! { "_id": a, "a": a };
        ready(insert(engine.clone(), Arc::clone(&collection), document, bypass))
    };
    assert_eq!((insert(11, false), insert(11, true), insert(7, false)), (false, true, true));
    assert_eq!(kit.all_ids(), [1, 7, 11]);
}

#[test]
fn a_restart_keeps_the_rule() {
    let mut kit = kit();
    limit(&kit, 10);
    kit.restart();
    let (engine, collection) = (kit.engine.clone(), kit.collection());
    assert!(!ready(insert(engine, collection, doc! { "_id": 1, "a": 11 }, false)));
    assert!(kit.all_ids().is_empty());
}
