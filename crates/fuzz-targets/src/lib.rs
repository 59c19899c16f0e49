//! One function for each parser of bytes that come from outside, for fuzzers: it may be given any
//! bytes, must not panic, and checks that what is accepted makes sense. `fuzz/` hands it what
//! libFuzzer makes up; a test here replays the inputs that were kept. Never shipped.

mod bodies;
mod bounds;
mod documents;
mod headers;
mod logins;
mod queries;
mod stored;
mod texts;

pub use documents::bson;
pub use queries::{run_pipeline, run_query};

/// A target: the parsers that it feeds may be given any bytes.
pub type Target = fn(&[u8]);

/// All targets by name; each has a folder of inputs in `fuzz/corpus`.
pub const TARGETS: &[(&str, Target)] = &[
    ("wire", documents::wire),
    ("bson", documents::bson),
    ("json", texts::json),
    ("sql", texts::sql),
    ("patterns", texts::patterns),
    ("queries", queries::queries),
    ("pipelines", queries::pipelines),
    ("heads", headers::heads),
    ("tokens", headers::tokens),
    ("items", bodies::items),
    ("binary_json", bodies::binary_json),
    ("patches", bodies::patches),
    ("batches", bodies::batches),
    ("hybrid_rows", bodies::hybrid_rows),
    ("scram", logins::scram),
    ("signatures", logins::signatures),
    ("rows", stored::rows),
    ("entries", stored::entries),
    ("segments", stored::segments),
    ("tables", stored::tables),
];
