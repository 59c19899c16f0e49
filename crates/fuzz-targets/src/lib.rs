//! One function for each parser of external bytes, for fuzzers: each accepts any bytes, must not
//! panic, and checks that input which the parser accepts is consistent. `fuzz/` passes libFuzzer's
//! inputs to these functions; a test in this crate replays the stored inputs. The crate is not part
//! of the server.

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

/// A target: passes arbitrary bytes to some parsers.
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
