//! Counts answered from index entries alone, compared with a full scan: random documents with all
//! kinds of values, some of them overwritten or expired, and random indexes and filters.
//! `SIM_SEED=n` runs one collection.

use document::{Decimal128, DocRef, Document, Number, ObjectId, Value, doc};
use engine::{BatchLimit, Explain, Hint, IndexSpec, Plan};
use evaluation::Context;
use pipeline::{Expr, Filter, exec::Stage};
use sim::ParsedDialect;
use test_kit::{Kit, Setup, ready};

use crate::planner::{self, PATHS, Rng, number, pick};

const COLLECTIONS: u64 = 500;
const ROUNDS: usize = 4;
const FILTERS: usize = 25;

/// Returns a value whose index key is easily confused with that of another value.
fn scalar(rng: &mut Rng) -> Value {
    let decimal = |text: &str| Value::Decimal128(Decimal128::parse(text).unwrap());
    let long = |tail: &str| Value::String("a".repeat(1_000) + tail);
    match rng.u8(0..14) {
        0..=5 => planner::scalar(rng),
        6 => Value::Int32(rng.i32(-2..4)),
        7 => Value::DateTime(rng.i64(0..4)),
        8 => decimal(pick(rng, &["1", "1.0", "0.1", "2.5", "NaN", "-0", "Infinity", "1E400"])),
        9 => pick(
            rng,
            &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.1, 0.5].map(Value::Double),
        ),
        10 => pick(rng, &[long(""), long("a"), long("b"), Value::String("a".repeat(997))]),
        11 => pick(
            rng,
            &[
                Value::Undefined,
                Value::Symbol("ab".into()),
                Value::Regex { pattern: "a".into(), options: String::new() },
                Value::Timestamp(2),
                Value::ObjectId(ObjectId([1; 12])),
                Value::Binary { subtype: 0, bytes: vec![1] },
                Value::JavaScript("a".into()),
            ],
        ),
        12 => Value::Null,
        _ => Value::Document(doc! { "x": planner::scalar(rng) }),
    }
}

/// Returns a filter mostly on the first fields of an index: equalities, then a range.
fn filter_on(rng: &mut Rng, index: &IndexSpec) -> Document {
    let mut out = Document::new();
    let last = rng.usize(0..=index.key.len());
    for (at, (path, _)) in index.key.iter().enumerate().take(last + 1) {
        if at < last && rng.u8(0..6) != 0 {
            out.push(path.clone(), equality(rng));
            continue;
        }
        let range = match rng.u8(0..7) {
            0 => doc! { "$gt": scalar(rng) },
            1 => doc! { "$gte": scalar(rng) },
            2 => doc! { "$lt": scalar(rng) },
            3 => doc! { "$lte": scalar(rng) },
            4 => doc! { "$gt": scalar(rng), "$lte": scalar(rng) },
            5 => doc! { "$gte": scalar(rng), "$lt": scalar(rng), "$in": several(rng) },
            _ => doc! { "$gte": scalar(rng), "$ne": scalar(rng) },
        };
        out.push(path.clone(), Value::Document(range));
        break;
    }
    if rng.u8(0..8) == 0 {
        let path = pick(rng, &PATHS);
        if out.get(path).is_none() {
            out.push(path, scalar(rng));
        }
    }
    out
}

fn equality(rng: &mut Rng) -> Value {
    match rng.u8(0..4) {
        0 => Value::Document(doc! { "$in": several(rng) }),
        _ => scalar(rng),
    }
}

fn several(rng: &mut Rng) -> Value {
    Value::Array((0..rng.usize(0..4)).map(|_| scalar(rng)).collect())
}

fn body(rng: &mut Rng, id: i32, arrays: bool) -> Document {
    let mut out = match arrays && rng.bool() {
        true => planner::document(rng, id, true),
        false => {
            let mut out = doc! { "_id": id };
            for name in ["a", "b", "c"] {
                if rng.u8(0..6) != 0 {
                    out.push(name, scalar(rng));
                }
            }
            out
        }
    };
    if rng.u8(0..3) == 0 {
        out.push("ttl", rng.i32(1..6));
    }
    out
}

/// The expected content, as written by the client: documents with their expirations.
struct World {
    kit: Kit,
    default: Option<i64>,
    stored: Vec<(i32, Document, i64)>,
    indexes: Vec<IndexSpec>,
}

impl World {
    fn new(rng: &mut Rng) -> Self {
        let kit =
            Kit::new(Setup { dialect: std::sync::Arc::new(ParsedDialect), ..Setup::default() });
        let default = pick(rng, &[None, Some(-1), Some(3)]);
        kit.set_default(default);
        let mut world = Self { kit, default, stored: Vec::new(), indexes: Vec::new() };
        for at in 0..rng.usize(1..4) {
            let spec = planner::index(rng, at);
            let spec = IndexSpec { unique: rng.u8(0..6) == 0, ..spec };
            if world.kit.create_index(spec.clone()).is_ok() {
                world.indexes.push(spec);
            }
        }
        world
    }

    /// Returns the instant at which a document expires that is written now.
    fn end_of(&self, body: &Document) -> i64 {
        let own = body.get("ttl").and_then(|ttl| Number::of(ttl.as_ref())?.to_i64_exact());
        let seconds = match self.default {
            None => return i64::MAX,
            Some(default) => own.unwrap_or(default),
        };
        if seconds < 0 { i64::MAX } else { (self.kit.now_ms().div_euclid(1_000) + seconds) * 1_000 }
    }

    /// Inserts, changes and removes documents; some expire.
    fn live_on(&mut self, rng: &mut Rng, arrays: bool) {
        for _ in 0..rng.usize(0..12) {
            let id = rng.i32(0..14);
            let body = body(rng, id, arrays);
            let end = self.end_of(&body);
            let done = match rng.u8(0..8) {
                0 => self.kit.remove_by_id(id) == 1,
                1..=3 => self.kit.replace(body.clone(), true).is_ok(),
                _ => self.kit.insert(body.clone()).is_ok(),
            };
            if done {
                self.stored.retain(|(held, ..)| *held != id);
                self.stored.push((id, body, end));
            }
            // A removal may have had no effect; a read shows whether the document exists.
            if self.kit.find_documents(test_kit::equal("_id", id), Hint::None).unwrap().is_empty() {
                self.stored.retain(|(held, ..)| *held != id);
            }
        }
        self.kit.move_to(self.kit.now_ms() + rng.i64(0..2_500));
        if rng.u8(0..4) == 0 {
            self.kit.reap_all();
        }
    }

    /// Counts the live documents that match a filter and, with a hint to a partial index, are in
    /// that index.
    fn expected(&self, filter: &Filter, partial: Option<&Document>) -> usize {
        let context = Context::default();
        let partial = partial.map(|partial| {
            mongo_query::filter::parse(DocRef::Tree(partial)).expect("a partial filter")
        });
        let meets = |filter: &Filter, body: &Document| {
            filter.matches(DocRef::Tree(body), &context).is_ok_and(|met| met)
        };
        let now = self.kit.now_ms();
        let counted = self.stored.iter().filter(|(_, body, end)| {
            now < *end
                && meets(filter, body)
                && partial.as_ref().is_none_or(|partial| meets(partial, body))
        });
        counted.count()
    }

    /// Returns the engine's count and plan.
    fn count(&self, plan: Plan) -> (usize, Explain) {
        let mut cursor = self.kit.begin_query(plan);
        let limit = BatchLimit { documents: 10, bytes: usize::MAX };
        let batch = ready(cursor.next_batch(limit)).unwrap();
        let n = batch.documents.first().and_then(|row| DocRef::Raw(row).get("n"));
        let n = n.map_or(0, |n| Number::of(n).and_then(Number::to_i64_exact).unwrap());
        (usize::try_from(n).unwrap(), cursor.explain())
    }

    /// Checks a count; returns whether it was answered from index entries alone.
    fn check(&self, rng: &mut Rng, hint: Hint, filter: &Document, seed: u64) -> bool {
        let Ok(parsed) = mongo_query::filter::parse(DocRef::Tree(filter)) else { return false };
        let hinted = self.indexes.iter().find(|index| hint == Hint::Index(index.name.clone()));
        let want = self.expected(&parsed, hinted.and_then(|index| index.partial.as_ref()));
        let (skip, limit) = (rng.u64(0..3), rng.u64(1..8));
        let count = || Stage::Count("n".to_owned());
        let one = Stage::Group(pipeline::exec::Group {
            id: Expr::Literal(Value::Null),
            fields: vec![sum_of_ones()],
        });
        let mut alone = false;
        for (stages, want) in [
            (vec![count()], want),
            (vec![one], want),
            (
                vec![Stage::Skip(skip), Stage::Limit(limit), count()],
                want.saturating_sub(usize::try_from(skip).unwrap())
                    .min(usize::try_from(limit).unwrap()),
            ),
        ] {
            let plan = Plan { hint: hint.clone(), ..Plan::new(parsed.clone()).with_stages(stages) };
            let (n, explain) = self.count(plan);
            let shown: Vec<_> =
                self.indexes.iter().map(|i| (&i.key, i.sparse, &i.partial)).collect();
            let text =
                || format!("seed {seed} hint {hint:?} filter {filter:?} {explain:?}\n{shown:?}");
            assert_eq!(n, want, "{}\n{:?}", text(), self.stored);
            if explain.counted {
                assert_eq!(explain.documents_examined, 0, "{}", text());
                assert!(!explain.traits.multikey, "{}", text());
            }
            alone = explain.counted;
        }
        alone
    }
}

/// Returns the group field `n: {$sum: 1}`.
fn sum_of_ones() -> pipeline::group::Field {
    pipeline::group::Field {
        name: "n".to_owned(),
        accumulator: pipeline::group::find_accumulator("$sum").unwrap(),
        arguments: pipeline::group::AccumulatorArguments {
            input: Expr::Literal(Value::Int32(1)),
            n: Expr::Absent,
            sort: pipeline::sort::Sort::default(),
        },
    }
}

/// Tests one collection. Returns the number of cases, and the number of cases that were answered
/// from index entries alone.
fn collection(seed: u64) -> (usize, usize) {
    let mut rng = Rng::with_seed(seed);
    let mut world = World::new(&mut rng);
    let arrays = rng.u8(0..4) == 0;
    let (mut cases, mut alone) = (0, 0);
    for _ in 0..ROUNDS {
        world.live_on(&mut rng, arrays);
        for _ in 0..FILTERS {
            let Some(index) = rng.choice(&world.indexes).cloned() else { return (cases, alone) };
            let filter = match rng.u8(0..5) {
                0 => planner::filter(&mut rng),
                _ => filter_on(&mut rng, &index),
            };
            alone += usize::from(world.check(&mut rng, Hint::None, &filter, seed));
            cases += 1;
            // A hint to a sparse index only counts indexed documents, so it is not tested.
            if !index.sparse {
                let hint = Hint::Index(index.name.clone());
                alone += usize::from(world.check(&mut rng, hint, &filter, seed));
                cases += 1;
            }
        }
    }
    (cases, alone)
}

#[test]
fn entries_alone_count_as_a_full_scan_does() {
    if let Some(seed) = number("SIM_SEED") {
        collection(seed);
        return;
    }
    let collections = number("SIM_HISTORIES").unwrap_or(COLLECTIONS);
    let (mut cases, mut alone) = (0, 0);
    for seed in 0..collections {
        let (more, by_entries) = collection(seed);
        (cases, alone) = (cases + more, alone + by_entries);
    }
    assert!(20_000 <= alone, "{cases} cases, {alone} by entries alone");
}
