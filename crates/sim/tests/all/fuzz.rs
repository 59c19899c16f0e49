//! Bytes that were changed at random and trees of random operators, thrown at everything that
//! reads what comes from outside: nothing may panic, and what is accepted has to make sense.
//! `FUZZ_CASES` sets how many cases each target gets, `FUZZ_SEED` where they begin.
use document::{
    DocBuf, DocRef, Document, Value, ValueRef, array, compare, depth_within, doc,
    key::{TypeOrder, encode},
    limits, validate, validate_depth,
};
use evaluation::Context;
use expiry::{Header, HeaderDraft, Lifetime, body_checksum};
use fastrand::Rng;
use mongo_query::{expression, filter, pipeline::parse as parse_stages, projection, sort, update};
use pipeline::{
    Env,
    exec::{Exec, Next, Row},
};

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Runs a target over many cases, each with a seed of its own that is named on failure.
fn run(name: &str, cases: u64, target: impl Fn(&mut Rng) + std::panic::RefUnwindSafe) {
    let first = setting("FUZZ_SEED", 1);
    for seed in first..first + setting("FUZZ_CASES", cases) {
        let caught = std::panic::catch_unwind(|| target(&mut Rng::with_seed(seed)));
        assert!(caught.is_ok(), "{name} failed: FUZZ_SEED={seed} FUZZ_CASES=1");
    }
}

fn scalar(rng: &mut Rng) -> Value {
    match rng.u8(0..16) {
        0 => Value::Null,
        1 => Value::Bool(rng.bool()),
        2 => Value::Int32([0, 1, -1, i32::MAX, i32::MIN][rng.usize(0..5)]),
        3 => Value::Int64([0, 7, -1, i64::MAX, i64::MIN, 1 << 53][rng.usize(0..6)]),
        4 => Value::Double([0.0, -0.0, 1.5, f64::NAN, f64::INFINITY, 1e308][rng.usize(0..6)]),
        5 => Value::DateTime([0, -1, i64::MAX, i64::MIN, 1_600_000_000_000][rng.usize(0..5)]),
        6 => Value::Undefined,
        7 => Value::MinKey,
        8 => Value::MaxKey,
        9 => Value::Timestamp(rng.u64(..)),
        10 => Value::from(
            ["$a", "$$ROOT", "$a.b.0", "$$x", "a.$", "$[]", "%Y-%m", "UTC", "(a+)+$"]
                [rng.usize(0..9)],
        ),
        _ => Value::from(["a", "b", "", "0", "x.y", "é\u{301}", "\u{10ffff}"][rng.usize(0..7)]),
    }
}

const NAMES: &[&str] = &["a", "b", "a.b", "a.0", "_id", "0", "", "ttl", "a.$", "a.$[]", "a.$[x]"];
/// Operators of all languages, together: each meets places where it does not belong.
const OPERATORS: &[&str] = &[
    "$eq",
    "$gt",
    "$in",
    "$nin",
    "$not",
    "$and",
    "$or",
    "$nor",
    "$exists",
    "$type",
    "$mod",
    "$regex",
    "$options",
    "$all",
    "$elemMatch",
    "$size",
    "$expr",
    "$bitsAllSet",
    "$set",
    "$unset",
    "$inc",
    "$mul",
    "$min",
    "$max",
    "$rename",
    "$push",
    "$each",
    "$slice",
    "$sort",
    "$position",
    "$addToSet",
    "$pop",
    "$pull",
    "$pullAll",
    "$bit",
    "$currentDate",
    "$setOnInsert",
    "$match",
    "$project",
    "$addFields",
    "$group",
    "$unwind",
    "$lookup",
    "$facet",
    "$replaceRoot",
    "$count",
    "$sortByCount",
    "$limit",
    "$skip",
    "$sample",
    "$sum",
    "$avg",
    "$first",
    "$add",
    "$subtract",
    "$multiply",
    "$divide",
    "$pow",
    "$range",
    "$map",
    "$filter",
    "$reduce",
    "$concatArrays",
    "$concat",
    "$split",
    "$substrCP",
    "$toString",
    "$convert",
    "$dateToString",
    "$dateFromParts",
    "$dateTrunc",
    "$dateAdd",
    "$cond",
    "$switch",
    "$ifNull",
    "$let",
    "$zip",
    "$setUnion",
    "$mergeObjects",
    "$objectToArray",
    "$arrayToObject",
    "$regexFind",
    "$literal",
    "$getField",
    "$slice",
    "$indexOfArray",
    "$sortArray",
    "$bucket",
    "$fill",
    "$top",
    "$percentile",
];
const ARGUMENTS: &[&str] = &[
    "input",
    "in",
    "as",
    "cond",
    "then",
    "else",
    "vars",
    "initialValue",
    "date",
    "format",
    "commit",
    "timezone",
    "path",
    "from",
    "pipeline",
    "localField",
    "foreignField",
    "let",
    "newRoot",
    "_id",
    "to",
    "onError",
    "branches",
    "default",
    "case",
    "field",
    "sortBy",
    "n",
    "boundaries",
];

/// A tree that looks like a query in places.
fn tree(rng: &mut Rng, depth: usize) -> Value {
    if depth == 0 || rng.u8(0..4) == 0 {
        return scalar(rng);
    }
    if rng.u8(0..3) == 0 {
        return Value::Array((0..rng.usize(0..4)).map(|_| tree(rng, depth - 1)).collect());
    }
    Value::Document(fields(rng, depth))
}

fn fields(rng: &mut Rng, depth: usize) -> Document {
    let lists = [NAMES, OPERATORS, OPERATORS, ARGUMENTS];
    (0..rng.usize(0..4))
        .map(|_| {
            let list = lists[rng.usize(0..lists.len())];
            (list[rng.usize(0..list.len())].to_owned(), tree(rng, depth - 1))
        })
        .collect()
}

fn sample(rng: &mut Rng) -> DocBuf {
    let mut sample = doc! {
        "_id": 1, "a": array![1, doc! { "b": 2 }, array![3]], "b": doc! { "c": "text" },
        "when": Value::DateTime(0), "blob": Value::Binary { subtype: 2, bytes: vec![0; 4] },
    };
    sample.push("x", tree(rng, 4));
    sample.to_buf()
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(0..bytes.len().max(1));
        match rng.u8(0..5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), rng.u8(..)),
            2 if at + 4 <= bytes.len() => {
                let length = [0, 4, 5, -1, i32::MAX, rng.i32(0..300)][rng.usize(0..6)];
                bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
            }
            _ if at < bytes.len() => {
                bytes[at] = [0, 1, 3, 4, 15, 0x80, rng.u8(..)][rng.usize(0..7)]
            }
            _ => {}
        }
    }
}

#[test]
fn changed_bson_is_refused_or_read_whole() {
    run("bson", 20_000, |rng| {
        let mut bytes = sample(rng).bytes().to_vec();
        mutate(rng, &mut bytes);
        let within = depth_within(&bytes, 3);
        if validate(&bytes).is_err() {
            return;
        }
        assert_eq!(within, validate_depth(&bytes, 3).is_ok(), "the depth of {bytes:?}");
        let read = DocRef::Raw(&bytes);
        let tree = read.to_tree();
        assert_eq!(read.iter().count(), tree.len(), "a field of {bytes:?} was not read");
        for (_, value) in read.iter() {
            assert!(compare(value, value).is_eq(), "{value:?} is not itself");
            let mut key = Vec::new();
            encode(value, TypeOrder::Bson, false, &mut key);
            assert!(!key.is_empty());
        }
        let again = tree.to_buf();
        assert!(validate(again.bytes()).is_ok(), "{tree:?} is written as something else");
    });
}

#[test]
fn changed_rows_are_noticed() {
    run("rows", 20_000, |rng| {
        let body = sample(rng);
        let draft = HeaderDraft {
            lifetime: [Lifetime::Inherit, Lifetime::Never, Lifetime::After(20)][rng.usize(0..3)],
            birth: rng.bool().then(|| rng.u64(..)),
            dates: (0..rng.u32(0..3)).map(|index| (index, rng.i64(..))).collect(),
            body_checksum: body_checksum(body.bytes()),
        };
        let mut row = draft.encode_stamped(rng.u64(..), rng.i64(..));
        row.extend_from_slice(body.bytes());
        let before = row.clone();
        mutate(rng, &mut row);
        let split = Header::split_row(&row);
        assert!(split.is_err() || row == before, "{row:?} passes for {before:?}");
    });
}

#[test]
fn queries_are_refused_or_run() {
    run("queries", 30_000, |rng| {
        let query = fields(rng, 5).to_buf();
        let document = sample(rng);
        let context = Context::default();
        let (query, of) = (query.as_ref(), document.as_ref());
        if let Ok(filter) = filter::parse(query) {
            let _ = filter.matches(of, &context);
        }
        if let Ok(projection) = projection::parse_find(query) {
            check(projection.apply(of, None, &context));
        }
        if let Ok(sort) = sort::parse(query) {
            assert!(sort.compare_documents(of, of).is_eq());
        }
        if let Ok(edit) = update::parse(ValueRef::Document(query), None, false) {
            check(edit.apply(of, None, &context).map(|outcome| outcome.document));
        }
        if let Ok(expression) = expression::parse(ValueRef::Document(query)) {
            let _ = expression.evaluate(&Env::new(of, &context));
        }
    });
}

#[test]
fn pipelines_are_refused_or_run() {
    run("pipelines", 20_000, |rng| {
        let stages: Vec<Value> = (0..rng.usize(1..4))
            .map(|_| {
                let mut stage = Document::new();
                stage.push(OPERATORS[rng.usize(0..OPERATORS.len())], tree(rng, 4));
                Value::Document(stage)
            })
            .collect();
        let held = doc! { "": Value::Array(stages) }.to_buf();
        let Some(ValueRef::Array(stages)) = held.get("") else { return };
        let Ok(stages) = parse_stages(stages) else { return };
        let mut exec = Exec::new(stages, std::sync::Arc::new(Context::default()));
        for _ in 0..3 {
            if exec.offer_row(Row::not_stored(sample(rng))).is_err() {
                return;
            }
        }
        exec.finish_input();
        for _ in 0..1_000 {
            match exec.next() {
                Ok(Next::Pause) => {}
                Ok(Next::Row(row)) => check(Ok::<_, ()>(row.document)),
                Ok(Next::Want(_)) => assert!(exec.supply(Vec::new()).is_ok()),
                Ok(Next::Done | Next::NeedInput) | Err(_) => return,
            }
        }
    });
}

/// What a query makes is a document.
fn check<E>(made: Result<DocBuf, E>) {
    if let Ok(made) = made {
        let valid = validate_depth(made.bytes(), limits::MAX_WIRE_DEPTH * 2);
        assert!(valid.is_ok(), "{valid:?}: {:?}", made.bytes());
    }
}
