//! The removal of receipts of sessions that have timed out. A session times out by the machine's
//! clock, which decides how long its client has been silent. With a system clock the receipts
//! expire by themselves; moving a manual clock must not expire them, so here they are removed.

use clock::ClockMode;
use engine::Engine;

use super::page::Page;
use crate::{api::MongoApi, limits::SESSION_MINUTES};

/// Returns the time of the machine's clock, in milliseconds since 1970, that a receipt has to
/// contain; `None` if it expires by the database clock.
pub(super) fn written_at(engine: &Engine) -> Option<i64> {
    (engine.clock().mode() == ClockMode::Manual).then(clock::wall_ms)
}

impl MongoApi {
    /// Removes the receipts of sessions that have timed out at this time of the machine's clock, in
    /// milliseconds since 1970, and returns their number. Does nothing unless the database clock is
    /// manual.
    pub async fn forget_receipts(&self, wall_ms: i64) -> Result<usize, engine::Error> {
        if self.engine().clock().mode() == ClockMode::System {
            return Ok(0);
        }
        let last = wall_ms.saturating_sub(i64::from(SESSION_MINUTES) * 60 * 1000);
        self.engine().forget_receipts(&|body| Page::was_written_by(body, last)).await
    }
}
