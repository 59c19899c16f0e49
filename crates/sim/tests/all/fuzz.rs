//! Randomly changed bytes and trees of random operators, passed to every parser of external data:
//! no parser may panic, and accepted input has to be consistent. `FUZZ_CASES` sets the number of
//! cases per target, `FUZZ_SEED` the first seed.
use document::{DocBuf, Document, Value, array, doc};
use expiry::{Header, HeaderDraft, Lifetime, body_checksum};
use fastrand::Rng;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// Runs a target on many cases. Each case has a seed of its own, which the report of a failure
/// contains.
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
/// Operators of all languages mixed, so that each also occurs in invalid positions.
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

/// Returns a tree that partly resembles a query.
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
        fuzz_targets::bson(&bytes);
    });
}

#[test]
fn changed_rows_are_noticed() {
    run("rows", 20_000, |rng| {
        let body = sample(rng);
        let draft = HeaderDraft {
            lifetime: [Lifetime::Inherit, Lifetime::Never, Lifetime::After(20)][rng.usize(0..3)],
            creation_stamp: rng.bool().then(|| rng.u64(..)),
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
        fuzz_targets::run_query(query.as_ref(), &[sample(rng)]);
    });
}

/// Returns a schema, which mostly is valid.
fn schema(rng: &mut Rng, depth: usize) -> Document {
    let types = ["string", "number", "object", "array", "null", "bool"];
    let mut keywords = Document::new();
    for _ in 0..rng.usize(0..4) {
        let name = KEYWORDS[rng.usize(0..KEYWORDS.len())];
        let inner = |rng: &mut Rng| match depth {
            0 => Document::new(),
            depth => schema(rng, depth - 1),
        };
        let value = match name {
            "bsonType" => types[rng.usize(0..types.len())].into(),
            "required" => array!["a", "x"],
            "enum" => array![tree(rng, 2)],
            "pattern" => "^t".into(),
            "uniqueItems" => rng.bool().into(),
            "properties" | "patternProperties" | "dependencies" => {
                doc! { "a": inner(rng), "b": inner(rng) }.into()
            }
            "allOf" | "anyOf" | "oneOf" => array![inner(rng), inner(rng)],
            "not" | "items" | "additionalItems" | "additionalProperties" => inner(rng).into(),
            _ => rng.i32(0..4).into(),
        };
        keywords.insert(name, if rng.u8(0..50) == 0 { tree(rng, 2) } else { value });
    }
    keywords
}

const KEYWORDS: &[&str] = &[
    "bsonType",
    "required",
    "enum",
    "pattern",
    "uniqueItems",
    "properties",
    "patternProperties",
    "dependencies",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "items",
    "additionalItems",
    "additionalProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxItems",
    "minProperties",
];

#[test]
fn validators_are_refused_or_run() {
    run("schemas", 20_000, |rng| {
        let validator = match rng.bool() {
            true => doc! { "$jsonSchema": schema(rng, 4) },
            false => fields(rng, 5),
        };
        fuzz_targets::run_validator(validator.to_buf().as_ref(), &[sample(rng)]);
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
        let documents = (0..3).map(|_| sample(rng)).collect();
        fuzz_targets::run_pipeline(held.as_ref(), documents);
    });
}
