//! Whatever index is read, the answer is that of a full scan: random documents, indexes, filters
//! and sorts. `SIM_SEED=n` runs one collection.

use document::{DocRef, Document, Value, doc};
use engine::{Hint, IndexSpec, Plan};
use evaluation::Context;
use pipeline::{Filter, exec::Stage, sort::Sort};
use sim::ParsedDialect;
use test_kit::{Direction, Kit, Setup, ready};

const COLLECTIONS: u64 = 700;
const FILTERS: usize = 40;
pub(crate) const PATHS: [&str; 5] = ["a", "b", "c", "a.x", "b.0"];

pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

pub(crate) type Rng = fastrand::Rng;

pub(crate) fn pick<T: Clone>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.usize(0..from.len())].clone()
}

pub(crate) fn scalar(rng: &mut Rng) -> Value {
    match rng.u8(0..13) {
        0..=3 => Value::Int32(rng.i32(-1..4)),
        4 => Value::Double(f64::from(rng.i32(-2..6)) / 2.0),
        5 => Value::Int64(rng.i64(0..3)),
        6 | 7 => Value::String(pick(rng, &["", "a", "ab", "b", "abc"]).into()),
        8 => Value::Null,
        9 => Value::Bool(rng.bool()),
        10 => Value::DateTime(rng.i64(0..3)),
        11 => pick(rng, &[Value::MinKey, Value::MaxKey, Value::Double(f64::NAN)]),
        _ => Value::Document(doc! { "x": rng.i32(0..3) }),
    }
}

fn value(rng: &mut Rng, depth: u8) -> Value {
    match rng.u8(0..10) {
        0 | 1 if depth < 2 => {
            let values: Vec<Value> = (0..rng.usize(0..4)).map(|_| value(rng, depth + 1)).collect();
            Value::Array(values.into_iter().collect())
        }
        2 if depth < 2 => Value::Document(doc! { "x": value(rng, depth + 1) }),
        _ => scalar(rng),
    }
}

pub(crate) fn document(rng: &mut Rng, id: i32, arrays: bool) -> Document {
    let mut out = doc! { "_id": id };
    for name in ["a", "b", "c"] {
        if rng.u8(0..5) != 0 {
            out.push(name, if arrays { value(rng, 0) } else { scalar(rng) });
        }
    }
    out
}

pub(crate) fn operand(rng: &mut Rng) -> Value {
    if rng.u8(0..8) == 0 { value(rng, 0) } else { scalar(rng) }
}

fn field(rng: &mut Rng) -> (String, Value) {
    let path = if rng.u8(0..8) == 0 { "_id" } else { pick(rng, &PATHS) };
    let values = |rng: &mut Rng| -> Value {
        Value::Array((0..rng.usize(0..4)).map(|_| operand(rng)).collect())
    };
    let test = match rng.u8(0..16) {
        0..=3 => return (path.into(), operand(rng)),
        4 => doc! { "$gt": operand(rng) },
        5 => doc! { "$gte": operand(rng) },
        6 => doc! { "$lt": operand(rng) },
        7 => doc! { "$lte": operand(rng) },
        8 => doc! { "$gte": operand(rng), "$lt": operand(rng) },
        9 => doc! { "$in": values(rng) },
        10 => doc! { "$nin": values(rng) },
        11 => doc! { "$ne": operand(rng) },
        12 => doc! { "$exists": rng.bool() },
        13 => doc! { "$regex": pick(rng, &["^a", "^ab", "b", "^"]) },
        14 => doc! { "$elemMatch": doc! { "$gt": operand(rng), "$lt": operand(rng) } },
        _ => doc! { "$not": doc! { "$gt": operand(rng) } },
    };
    (path.into(), Value::Document(test))
}

pub(crate) fn filter(rng: &mut Rng) -> Document {
    let mut out = Document::new();
    for _ in 0..rng.usize(0..4) {
        let (path, test) = field(rng);
        if out.get(&path).is_none() {
            out.push(path, test);
        }
    }
    if rng.u8(0..6) == 0 {
        let parts = (0..2).map(|_| {
            let (path, test) = field(rng);
            let mut part = Document::new();
            part.push(path, test);
            Value::Document(part)
        });
        let parts: Vec<Value> = parts.collect();
        let name = pick(rng, &["$and", "$or", "$nor"]);
        out.push(name, Value::Array(parts.into_iter().collect()));
    }
    out
}

pub(crate) fn index(rng: &mut Rng, at: usize) -> IndexSpec {
    let mut key: Vec<(String, bool)> = Vec::new();
    for _ in 0..rng.usize(1..4) {
        let path = pick(rng, &PATHS);
        if key.iter().all(|(held, _)| held != path) {
            key.push((path.into(), rng.bool()));
        }
    }
    let partial = match rng.u8(0..8) {
        0 => Some(doc! { "a": doc! { "$gt": 0 } }),
        1 => Some(doc! { "b": doc! { "$exists": true } }),
        2 => Some(doc! { "c": pick(rng, &[Value::Int32(1), Value::String("a".into())]) }),
        _ => None,
    };
    let sparse = partial.is_none() && rng.u8(0..4) == 0;
    IndexSpec { sparse, partial, ..IndexSpec::new(format!("i{at}"), key) }
}

fn sort(rng: &mut Rng) -> Option<Sort> {
    if rng.bool() {
        return None;
    }
    let mut wanted = Document::new();
    for _ in 0..rng.usize(1..3) {
        let path = pick(rng, &["a", "b", "c", "a.x", "_id"]);
        if wanted.get(path).is_none() {
            wanted.push(path, pick(rng, &[1, -1]));
        }
    }
    mongo_query::sort::parse(DocRef::Tree(&wanted)).ok()
}

struct Case<'a> {
    kit: &'a Kit,
    all: &'a [Document],
    filter: Document,
    parsed: Filter,
    sort: Option<Sort>,
}

impl Case<'_> {
    /// What a query answers: with a hint to a partial index only what is in that.
    fn expected(&self, hint: &Hint, indexes: &[IndexSpec]) -> Vec<i64> {
        let context = Context::default();
        let hinted = indexes.iter().find(|index| *hint == Hint::Index(index.name.clone()));
        let partial = hinted.and_then(|index| index.partial.as_ref()).map(|filter| {
            mongo_query::filter::parse(DocRef::Tree(filter)).expect("a partial filter")
        });
        let meets = |filter: &Filter, body: &Document| {
            filter.matches(DocRef::Tree(body), &context).is_ok_and(|met| met)
        };
        let wanted = |body: &&Document| {
            meets(&self.parsed, body) && partial.as_ref().is_none_or(|partial| meets(partial, body))
        };
        let mut found =
            test_kit::ids_of(&self.all.iter().filter(wanted).cloned().collect::<Vec<_>>());
        found.sort_unstable();
        found
    }

    /// Returns whether an index was read.
    fn check(&self, hint: Hint, seed: u64, indexes: &[IndexSpec]) -> bool {
        let mut plan = Plan { hint: hint.clone(), ..Plan::new(self.parsed.clone()) };
        if let Some(sort) = &self.sort {
            plan.stages = vec![Stage::Sort { sort: sort.clone(), limit: None }];
        }
        let context = || {
            let shown: Vec<_> = indexes.iter().map(|i| (&i.key, i.sparse, &i.partial)).collect();
            let text = format!("{:?}", self.filter);
            format!("seed {seed} hint {hint:?} filter {text} sort {:?}\n{shown:?}", self.sort)
        };
        let explain = self.kit.begin_query(plan.clone()).explain();
        let found = ready(test_kit::find_all(self.kit.engine.clone(), self.kit.namespace(), plan));
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", context()));
        let mut ids = test_kit::ids_of(&found);
        ids.sort_unstable();
        assert_eq!(ids, self.expected(&hint, indexes), "{} {explain:?}", context());
        if let Some(sort) = &self.sort {
            let ordered = found.is_sorted_by(|a, b| {
                sort.compare_documents(DocRef::Tree(a), DocRef::Tree(b)).is_le()
            });
            assert!(ordered, "{} {explain:?}\n{found:?}", context());
        }
        explain.index.is_some()
    }
}

/// Returns how many cases there were and how many read an index that the planner chose.
fn collection(seed: u64) -> (usize, usize) {
    let mut rng = Rng::with_seed(seed);
    let dialect = std::sync::Arc::new(ParsedDialect);
    let kit = Kit::new(Setup { dialect, ..Setup::default() });
    let wanted = (0..rng.usize(1..5)).map(|at| index(&mut rng, at));
    let mut indexes: Vec<IndexSpec> = Vec::new();
    for spec in wanted.collect::<Vec<_>>() {
        if kit.create_index(spec.clone()).is_ok() {
            indexes.push(spec);
        }
    }
    let arrays = rng.bool();
    let mut all = Vec::new();
    for id in 0..rng.i32(1..16) {
        let body = document(&mut rng, id, arrays);
        // Arrays in two fields of one index are refused.
        if kit.insert(body.clone()).is_ok() {
            all.push(body);
        }
    }
    let (mut cases, mut chosen) = (0, 0);
    for _ in 0..FILTERS {
        let filter = filter(&mut rng);
        let Ok(parsed) = mongo_query::filter::parse(DocRef::Tree(&filter)) else { continue };
        let case = Case { kit: &kit, all: &all, filter, parsed, sort: sort(&mut rng) };
        chosen += usize::from(case.check(Hint::None, seed, &indexes));
        case.check(Hint::Natural(Direction::Backward), seed, &indexes);
        cases += 2;
        // A sparse index that is asked for by name gives what it holds.
        for spec in indexes.iter().filter(|index| !index.sparse) {
            case.check(Hint::Index(spec.name.clone()), seed, &indexes);
            cases += 1;
        }
    }
    (cases, chosen)
}

#[test]
fn every_index_answers_as_a_full_scan_does() {
    if let Some(seed) = number("SIM_SEED") {
        collection(seed);
        return;
    }
    let collections = number("SIM_HISTORIES").unwrap_or(COLLECTIONS);
    let (mut cases, mut chosen) = (0, 0);
    for seed in 0..collections {
        let (more, by_choice) = collection(seed);
        (cases, chosen) = (cases + more, chosen + by_choice);
    }
    assert!(20_000 <= cases && 3_000 <= chosen, "{cases} cases, {chosen} by choice");
}
