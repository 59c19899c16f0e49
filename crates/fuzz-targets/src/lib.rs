//! One function for each parser of external bytes, for fuzzers: each accepts any bytes, must not
//! panic, and checks that input which the parser accepts is consistent. `fuzz/` passes libFuzzer's
//! inputs to these functions; a test in this crate replays the stored inputs. A long evaluation of
//! an input is ended, as by a time limit. The crate is not part of the server.

mod documents;
mod geometries;
mod logins;
mod queries;
mod requests;
mod searches;
mod stored;
mod texts;

pub use documents::bson;
pub use queries::{run_pipeline, run_query, run_validator};

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use evaluation::{Budget, Context, Error, Kind, Watch};

/// A target: passes arbitrary bytes to some parsers.
pub type Target = fn(&[u8]);

/// All targets by name; each has a folder of inputs in `fuzz/corpus`.
pub const TARGETS: &[(&str, Target)] = &[
    ("wire", documents::wire),
    ("bson", documents::bson),
    ("json", texts::json),
    ("sql", texts::sql),
    ("patterns", texts::patterns),
    ("searches", searches::searches),
    ("queries", queries::queries),
    ("schemas", queries::schemas),
    ("geometries", geometries::geometries),
    ("pipelines", queries::pipelines),
    ("heads", requests::heads),
    ("tokens", requests::tokens),
    ("items", requests::items),
    ("binary_json", requests::binary_json),
    ("patches", requests::patches),
    ("batches", requests::batches),
    ("hybrid_rows", requests::hybrid_rows),
    ("frames", requests::frames),
    ("scram", logins::scram),
    ("signatures", logins::signatures),
    ("rows", stored::rows),
    ("entries", stored::entries),
    ("segments", stored::segments),
    ("tables", stored::tables),
];

/// Number of checks for a time limit that an evaluation passes; one is made every few milliseconds.
const MAX_CHECKS: u32 = 20;

/// A time limit counted in checks: an evaluation fails after `MAX_CHECKS` of them.
#[derive(Debug, Default)]
struct CheckLimit(AtomicU32);

impl Watch for CheckLimit {
    fn check_end(&self) -> Result<(), Error> {
        if self.0.fetch_add(1, Ordering::Relaxed) < MAX_CHECKS {
            return Ok(());
        }
        Err(Error::new(Kind::TooLarge, 50, "it takes too long"))
    }
}

/// Returns a context with bounded evaluations.
pub(crate) fn context() -> Context {
    let budget = Arc::new(Budget::watched(CheckLimit::default()));
    Context { budget, ..Context::default() }
}
