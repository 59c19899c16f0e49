//! With every index that the planner can use, the result equals that of a full scan: random
//! documents, indexes, filters and sorts. `SIM_SEED=n` runs one collection.

use document::{DocRef, Document, Value, array, doc};
use engine::{BatchLimit, Hint, IndexShape, IndexSpec, Plan, WildcardPaths};
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

/// Returns a text longer than the prefix that an index key stores. All these texts have the same
/// prefix.
fn long_text(rng: &mut Rng) -> String {
    "a".repeat(1_100) + pick(rng, &["c", "a", "d", "b"])
}

pub(crate) fn scalar(rng: &mut Rng) -> Value {
    match rng.u8(0..13) {
        0..=3 => Value::Int32(rng.i32(-1..4)),
        4 => Value::Double(f64::from(rng.i32(-2..6)) / 2.0),
        5 => Value::Int64(rng.i64(0..3)),
        6 | 7 if rng.u8(0..8) == 0 => Value::String(long_text(rng)),
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
    let test = match rng.u8(0..22) {
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
        21 => doc! { "$in": array![operand(rng), operand(rng), operand(rng)] },
        15 => doc! { "$elemMatch": doc! { "$eq": operand(rng) } },
        16 => doc! { "$elemMatch": doc! { "$nin": values(rng) } },
        17 => doc! { "$elemMatch": inner(rng) },
        18 => {
            let one = |rng: &mut Rng| doc! { "$elemMatch": inner(rng) };
            doc! { "$all": array![one(rng), one(rng)] }
        }
        19 => doc! { "$not": doc! { "$elemMatch": inner(rng) } },
        20 => doc! { "$not": doc! { "$gte": operand(rng), "$lt": operand(rng) } },
        _ => doc! { "$not": doc! { "$gt": operand(rng) } },
    };
    (path.into(), Value::Document(test))
}

/// Returns a condition on the elements of an array.
fn inner(rng: &mut Rng) -> Document {
    let mut out = Document::new();
    for path in ["x", "y"] {
        match rng.u8(0..5) {
            0 | 1 => out.push(path, operand(rng)),
            2 => out.push(path, doc! { "$gt": operand(rng) }),
            3 => out.push(path, doc! { "$in": array![operand(rng), operand(rng)] }),
            _ => {}
        }
    }
    out
}

/// Returns a comparison of a path with a constant as an expression.
fn expression(rng: &mut Rng) -> Document {
    let path = Value::String(format!("${}", pick(rng, &["a", "b", "a.x", "_id"])));
    let constant: Value = doc! { "$literal": operand(rng) }.into();
    let sides = if rng.bool() { array![path, constant] } else { array![constant, path] };
    let mut out = Document::new();
    out.push(pick(rng, &["$eq", "$gt", "$gte", "$lt", "$lte", "$ne"]), sides);
    out
}

pub(crate) fn filter(rng: &mut Rng) -> Document {
    let mut out = Document::new();
    for _ in 0..rng.usize(0..4) {
        let (path, test) = field(rng);
        if out.get(&path).is_none() {
            out.push(path, test);
        }
    }
    if rng.u8(0..10) == 0 {
        out.push("$or", pages_by_key(rng));
    } else if rng.u8(0..3) == 0 {
        let parts: Vec<Value> = (0..rng.usize(2..4)).map(|_| part(rng).into()).collect();
        let name = pick(rng, &["$and", "$or", "$or", "$or", "$nor"]);
        out.push(name, Value::Array(parts.into_iter().collect()));
    }
    if rng.u8(0..12) == 0 {
        out.push("$expr", expression(rng));
    }
    out
}

/// Returns a filter for the next page, as clients write it: what follows a document in a sort
/// order.
fn pages_by_key(rng: &mut Rng) -> Value {
    let (path, operator) = (pick(rng, &["a", "b", "c"]), pick(rng, &["$gt", "$lt"]));
    let next = pick(rng, &["_id", "b", "c"]);
    let (last, after) = (scalar(rng), scalar(rng));
    let behind = |value: Value| {
        let mut test = Document::new();
        test.push(operator, value);
        test
    };
    let (mut first, mut same) = (Document::new(), Document::new());
    first.push(path, behind(last.clone()));
    same.push(path, last);
    if next != path {
        same.push(next, behind(after));
    }
    array![first, same]
}

/// Returns one of several filters to be combined.
fn part(rng: &mut Rng) -> Document {
    let mut part = Document::new();
    for _ in 0..rng.usize(1..3) {
        let (path, test) = field(rng);
        if part.get(&path).is_none() {
            part.push(path, test);
        }
    }
    if rng.u8(0..10) == 0 {
        let nested = array![doc! { "a": operand(rng) }, doc! { "b": operand(rng), "c": 1 }];
        part.push("$or", nested);
    }
    part
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

/// Returns a wildcard index, which may be compound.
fn wildcard_index(rng: &mut Rng, at: usize) -> IndexSpec {
    let (before, behind) = match rng.u8(0..6) {
        0 => (vec!["b"], vec![]),
        1 => (vec![], vec!["c"]),
        2 => (vec!["b"], vec!["c"]),
        3 => (vec!["b", "c"], vec![]),
        _ => (vec![], vec![]),
    };
    let paths = match rng.bool() {
        true => WildcardPaths { included: true, paths: vec!["a".into()], with_id: false },
        false => {
            let others = before.iter().chain(&behind).map(|path| (*path).to_owned());
            WildcardPaths { included: false, paths: others.collect(), with_id: false }
        }
    };
    let name = if paths.included { "a.$**" } else { "$**" };
    let key = before.into_iter().chain([name]).chain(behind);
    let key = key.map(|path| (path.to_owned(), rng.bool())).collect();
    IndexSpec { shape: IndexShape::Wildcard(paths), ..IndexSpec::new(format!("w{at}"), key) }
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
    /// Returns the expected ids. With a hint to a partial index, these are only the documents in
    /// the index.
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

    /// Compares a result with that of a full scan. Returns whether an index was used.
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
        let expected = self.expected(&hint, indexes);
        let page = self.page(plan.clone(), seed);
        let (skip, limit) = page.asked;
        let len = expected.len().saturating_sub(skip).min(limit);
        assert_eq!(page.found.len(), len, "skip {skip} limit {limit} {} {explain:?}", context());
        self.check_page(&page, &expected, &context);
        let found = ready(test_kit::find_all(self.kit.engine.clone(), self.kit.namespace(), plan));
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", context()));
        let mut ids = test_kit::ids_of(&found);
        ids.sort_unstable();
        assert_eq!(ids, expected, "{} {explain:?}", context());
        if let Some(sort) = &self.sort {
            let ordered = found.is_sorted_by(|a, b| {
                sort.compare_documents(DocRef::Tree(a), DocRef::Tree(b)).is_le()
            });
            assert!(ordered, "{} {explain:?}\n{found:?}", context());
        }
        explain.index.is_some() || !explain.branches.is_empty()
    }

    /// Reads a random part of the result, skipping and limiting, in small batches.
    fn page(&self, mut plan: Plan, seed: u64) -> Page {
        let mut rng = Rng::with_seed(seed ^ self.all.len() as u64);
        let asked = (rng.usize(0..4), rng.usize(1..6));
        if 0 < asked.0 {
            plan.stages.push(Stage::Skip(asked.0 as u64));
        }
        plan.stages.push(Stage::Limit(asked.1 as u64));
        let mut cursor = self.kit.begin_query(plan);
        let mut found = Vec::new();
        loop {
            let limit = BatchLimit { documents: rng.usize(1..4), bytes: usize::MAX };
            let batch = ready(cursor.next_batch(limit)).expect("a batch");
            found.extend(batch.documents.iter().map(|bytes| DocRef::Raw(bytes).to_tree()));
            if batch.done {
                return Page { asked, found };
            }
        }
    }

    /// Checks a page against the sort. Documents with equal sort keys may occur in any order.
    fn check_page(&self, page: &Page, expected: &[i64], context: &dyn Fn() -> String) {
        let mut ids = test_kit::ids_of(&page.found);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), page.found.len(), "twice: {}", context());
        assert!(ids.iter().all(|id| expected.contains(id)), "{}", context());
        let Some(sort) = &self.sort else { return };
        let wanted = |body: &&Document| {
            test_kit::ids_of(std::slice::from_ref(*body)).iter().all(|id| expected.contains(id))
        };
        let mut all: Vec<&Document> = self.all.iter().filter(wanted).collect();
        let order =
            |a: &Document, b: &Document| sort.compare_documents(DocRef::Tree(a), DocRef::Tree(b));
        all.sort_by(|a, b| order(a, b));
        for (found, wanted) in page.found.iter().zip(all.into_iter().skip(page.asked.0)) {
            assert!(order(found, wanted).is_eq(), "{}: {:?}", context(), page.found);
        }
    }
}

/// A part of a result, read in small batches.
struct Page {
    /// Number of documents to skip, and maximum number to return.
    asked: (usize, usize),
    found: Vec<Document>,
}

/// Tests one collection. Returns the number of cases, and of cases with a chosen index.
fn collection(seed: u64) -> (usize, usize) {
    let mut rng = Rng::with_seed(seed);
    let dialect = std::sync::Arc::new(ParsedDialect);
    let kit = Kit::new(Setup { dialect, ..Setup::default() });
    let wanted = (0..rng.usize(1..5)).map(|at| match rng.u8(0..4) {
        0 => wildcard_index(&mut rng, at),
        _ => index(&mut rng, at),
    });
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
        // A document with arrays in two fields of one index is refused.
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
        // A hint to a sparse index only finds indexed documents, and one to a wildcard index may be
        // refused, so they are not tested.
        let hinted = |index: &&IndexSpec| !index.sparse && index.shape == IndexShape::Fields;
        for spec in indexes.iter().filter(hinted) {
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
