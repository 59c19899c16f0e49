//! The statements of one write command: how many there may be, in which order they run, and how
//! their failures are reported.
//!
//! ```text
//! ordered:    s0 ok, s1 fails, s2 does not run        writeErrors: [{index: 1}]
//! unordered:  s0 ok, s1 fails, s2 runs                writeErrors: [{index: 1}]
//! ```

use std::sync::Arc;

use document::{DocRef, Document, Value};
use evaluation::Context;

use crate::{
    errors::{Error, InvalidLength, Result},
    limits::MAX_WRITE_BATCH,
};

/// How many operations one command may hold: one at least, and as many as `hello` allows.
pub(super) fn check_batch(len: usize) -> Result<()> {
    if (1..=MAX_WRITE_BATCH).contains(&len) {
        return Ok(());
    }
    let message = format!(
        "Write batch sizes must be between 1 and {MAX_WRITE_BATCH}. Evaluated {len} operations."
    );
    Err(Error::new(InvalidLength, message))
}

/// Adds `writeErrors` to a reply when there are any. Drivers take its absence for success.
pub(super) fn push_errors(reply: &mut Document, errors: &[(usize, Error)]) {
    if !errors.is_empty() {
        let errors = errors.iter().map(|(at, error)| error.write_error(*at)).collect();
        reply.push("writeErrors", Value::Array(errors));
    }
}

/// What runs the statements of one command and adds up what they did.
pub(super) trait RunStatement {
    /// Runs one statement; `at` is its position in the command.
    fn run_statement(
        &mut self,
        at: usize,
        statement: DocRef<'_>,
        context: &Arc<Context>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// Runs statements one after the other, and returns the failures by position. In an `ordered`
/// command the first failure is the last statement that runs; else each has its turn.
///
/// `context` is the command's. What is wrong with its constants fails each statement and not the
/// command, so it is handed on as it is.
pub(super) async fn run_statements(
    statements: Vec<DocRef<'_>>,
    ordered: bool,
    context: Result<Arc<Context>>,
    runner: &mut (impl RunStatement + Send),
) -> Vec<(usize, Error)> {
    let mut errors = Vec::new();
    for (at, statement) in statements.into_iter().enumerate() {
        let ran = match &context {
            Ok(context) => runner.run_statement(at, statement, context).await,
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = ran {
            errors.push((at, error));
            if ordered {
                break;
            }
        }
    }
    errors
}
