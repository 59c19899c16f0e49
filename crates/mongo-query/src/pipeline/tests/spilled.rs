//! Stages that spill to temporary files return the same results as with enough memory.

use std::sync::Arc;

use document::{DocBuf, Document, Value};
use evaluation::{Context, OperationMemory, Spill};
use memory::Account;
use pipeline::exec::{Row, Source};
use spill::{Area, Limits};

use super::{large_rows, parsed, run, run_rows, text_of};

const MB: usize = 1 << 20;

/// A directory for temporary files, and the memory limit of operations.
struct Place {
    _folder: tempfile::TempDir,
    area: Area,
    account: Account,
}

impl Place {
    fn new(account: usize, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let area = Area::new(folder.path().to_owned(), limits);
        Self { _folder: folder, area, account: Account::new(account) }
    }

    fn context(&self) -> Arc<Context> {
        let (operation_memory, spill) =
            (OperationMemory::from_account(&self.account), Spill::To(self.area.clone()));
        Arc::new(Context { operation_memory, spill, now_ms: 1000, ..Context::default() })
    }
}

/// Returns rows whose fields repeat with different periods, so that there are ties, and many and
/// few groups.
fn rows(count: usize) -> Vec<Row> {
    let mut state = 7_u64;
    let mut next = |bound: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let row = |at: usize| {
        let mut fields = Document::new();
        fields.push("_id", at as i64);
        fields.push("few", next(5) as i32);
        fields.push("many", next(100_000) as i64);
        fields.push(
            "n",
            match next(4) {
                0 => Value::Int32(next(1000) as i32),
                1 => Value::Int64(i64::MAX - next(9) as i64),
                2 => Value::Double(next(1000) as f64 / 7.0),
                _ => Value::Decimal128(document::Decimal128::from_i64(next(50) as i64)),
            },
        );
        fields.push("list", Value::Array((0..next(3)).map(|it| Value::Int32(it as i32)).collect()));
        fields.push("object", Document::from_iter([(format!("k{}", next(20)), Value::Null)]));
        fields.push("text", "x".repeat(next(3000) as usize));
        Row {
            document: fields.to_buf(),
            source: Source::stored_at(Some((at as u64).to_be_bytes().into())),
        }
    };
    (0..count).map(row).collect()
}

fn texts(rows: Vec<Row>) -> Vec<String> {
    let text = |row: Row| text_of(document::ValueRef::Document(row.document.as_ref()));
    rows.into_iter().map(text).collect()
}

/// Returns the rows without every third stored document.
fn without(rows: Vec<Row>) -> Vec<String> {
    let dead = |origin: &[u8]| origin.last().is_some_and(|last| last % 3 == 0);
    texts(rows.into_iter().filter_map(|row| row.without_dead(&dead).unwrap()).collect())
}

/// Returns whether the order of the results is undefined.
fn in_any_order(pipeline: &str) -> bool {
    pipeline.starts_with("[{$group")
}

const EVERY_ACCUMULATOR: &str = "s: {$sum: '$n'}, a: {$avg: '$n'}, c: {$count: {}}, \
    min: {$min: '$n'}, max: {$max: '$text'}, f: {$first: '$_id'}, l: {$last: '$_id'}, \
    p: {$push: '$_id'}, u: {$addToSet: '$few'}, dp: {$stdDevPop: '$n'}, ds: {$stdDevSamp: '$n'}, \
    m: {$mergeObjects: '$object'}, fn: {$firstN: {input: '$_id', n: 3}}, \
    ln: {$lastN: {input: '$_id', n: 3}}, mn: {$minN: {input: '$n', n: 2}}, \
    mx: {$maxN: {input: '$many', n: 2}}, t: {$top: {sortBy: {many: 1}, output: '$_id'}}, \
    b: {$bottomN: {n: 2, sortBy: {few: 1, many: -1}, output: '$_id'}}, \
    cc: {$concatArrays: '$list'}, su: {$setUnion: '$list'}, \
    me: {$median: {input: '$n', method: 'approximate'}}, \
    pe: {$percentile: {input: '$n', p: [0.1, 0.9], method: 'approximate'}}";

#[test]
fn the_answer_is_the_same() {
    let input = rows(8_000);
    let others: Vec<Row> = rows(200);
    let groups = format!("[{{$group: {{_id: '$few', {EVERY_ACCUMULATOR}}}}}]");
    let more = format!("[{{$group: {{_id: {{$mod: ['$many', 5000]}}, {EVERY_ACCUMULATOR}}}}}]");
    for pipeline in [
        "[{$sort: {many: 1}}]",
        "[{$sort: {few: 1, many: -1}}]",
        "[{$sort: {few: 1}}, {$skip: 100}, {$limit: 6000}]",
        "[{$sort: {list: -1, n: 1}}, {$project: {n: 1}}]",
        "[{$lookup: {from: 't', localField: 'few', foreignField: 'few', as: 'j', \
            pipeline: [{$limit: 3}, {$project: {many: 1}}]}}, {$sort: {many: 1}}]",
        "[{$lookup: {from: 't', localField: 'few', foreignField: 'few', as: 'j', \
            pipeline: [{$limit: 2}, {$set: {w: '$n'}}]}}, {$unwind: '$j'}, {$set: {v: '$j.many'}}, \
            {$sort: {v: 1, _id: 1}}, {$unset: ['text', 'j.text']}]",
        "[{$group: {_id: '$many', n: {$sum: 1}, texts: {$push: '$text'}}}]",
        "[{$group: {_id: '$_id', all: {$push: '$$ROOT'}}}]",
        "[{$bucketAuto: {groupBy: '$many', buckets: 7}}]",
        "[{$bucketAuto: {groupBy: '$few', buckets: 3, output: {n: {$sum: '$n'}, c: {$sum: 1}}}}]",
        &groups,
        &more,
    ] {
        let stages: Arc<[_]> = parsed(pipeline).unwrap().into();
        let run = |context| run_rows(Arc::clone(&stages), context, input.clone(), &others);
        let plain = run(Arc::new(Context { now_ms: 1000, ..Context::default() })).unwrap();
        let place = Place::new(9 * MB, Limits::default());
        let context = place.context();
        let spilled = run(Arc::clone(&context));
        let spilled = spilled.unwrap_or_else(|error| panic!("{pipeline}: {error}"));
        let nowhere = Place::new(9 * MB, Limits { files: 0, ..Limits::default() });
        let refused = run(nowhere.context()).err().map(|error| error.number);
        let needs_files = *pipeline != groups;
        assert_eq!(refused, needs_files.then_some(365), "{pipeline}");
        assert_eq!(without(plain.clone()).len(), without(spilled.clone()).len());
        let judged = [plain, spilled].map(|rows| {
            let mut both = [texts(rows.clone()), without(rows)];
            if in_any_order(pipeline) {
                both.iter_mut().for_each(|texts| texts.sort());
            }
            both
        });
        let [plain, spilled] = &judged;
        assert!(plain == spilled, "{pipeline}");
        drop(context);
        assert_eq!((place.area.open_files(), place.area.used_bytes()), (0, 0), "{pipeline}");
        assert_eq!(place.account.used_bytes(), 0, "{pipeline}");
    }
}

#[test]
fn more_than_a_stage_may_hold_is_written() {
    let place = Place::new(usize::MAX, Limits::default());
    let rows: Vec<DocBuf> = large_rows();
    for (pipeline, expected) in [
        (
            "[{$sort: {_id: -1}}, {$group: {_id: null, f: {$first: '$_id'}, n: {$sum: 1}}}]",
            Ok("{_id: null, f: 119, n: 120}"),
        ),
        ("[{$group: {_id: '$_id', t: {$push: '$text'}}}, {$count: 'n'}]", Ok("{n: 120}")),
        (
            "[{$bucketAuto: {groupBy: '$_id', buckets: 3}}, {$limit: 1}]",
            Ok("{_id: {min: 0, max: 40}, count: 40}"),
        ),
        // A single group must fit in memory.
        ("[{$group: {_id: null, t: {$push: '$text'}}}, {$count: 'n'}]", Err(292)),
    ] {
        let stages = parsed(pipeline).unwrap();
        let result = run(stages.into(), place.context(), rows.clone(), &[]);
        let text = result.map(|rows| text_of(document::ValueRef::Document(rows[0].as_ref())));
        let expected = expected.map(str::to_owned);
        assert_eq!(text.map_err(|error| error.number), expected, "{pipeline}");
    }
}

#[test]
fn where_there_is_no_place_the_refusal_says_why() {
    let rows = large_rows();
    let full = Place::new(usize::MAX, Limits { bytes: 1 << 20, ..Limits::default() });
    let busy = Place::new(usize::MAX, Limits { files: 0, ..Limits::default() });
    for (spill, number, part) in [
        (Spill::Refused, 292, "but did not opt in to external sorting"),
        (Spill::Nowhere, 292, "an in-memory server"),
        (Spill::To(full.area.clone()), 14031, "no space left for temporary files"),
        (Spill::To(busy.area.clone()), 365, "try again later"),
    ] {
        let context = Arc::new(Context { spill, ..Context::default() });
        let stages = parsed("[{$sort: {_id: 1}}]").unwrap();
        let error = run(stages.into(), context, rows.clone(), &[]).unwrap_err();
        assert_eq!(error.number, number);
        assert!(error.message.contains(part), "{error}");
    }
    assert_eq!((full.area.open_files(), full.area.used_bytes()), (0, 0));
}
