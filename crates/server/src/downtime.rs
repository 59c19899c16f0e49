//! Handling of startup after a long downtime: its length by database time, the documents that
//! expired during it, and whether to refuse the start because it exceeds the operator's limit. The
//! machine's clock may be wrong, and database time never goes back.

use std::time::Duration;

use clock::{Clock, MAX_STEP_MS, Started};
use engine::Engine;
use jiff::SignedDuration;
use server_base::data_dir::Refused;

/// Refuses a start at which time would jump forward by more than `most`.
pub(crate) fn check_jump(clock: &Clock, most: Option<Duration>) -> Result<(), Refused> {
    let off_ms = clock.status().started.off_ms();
    let most_ms = most.map_or(i64::MAX, |most| i64::try_from(most.as_millis()).unwrap_or(i64::MAX));
    if off_ms <= most_ms {
        return Ok(());
    }
    Err(Refused::Unusable(format!(
        "by the machine's clock the database was off for {}, which is more than --max-forward-jump \
         allows: correct the clock if it is wrong (documents that expire by it never become \
         visible again), or start with a larger --max-forward-jump, or without it",
        in_words(off_ms)
    )))
}

/// Logs the duration of a long downtime and the number of documents that expired during it.
pub(crate) async fn log_downtime(engine: Engine) {
    let status = engine.clock().status();
    let Started { last: Some(last), .. } = status.started else { return };
    let off_ms = status.started.off_ms();
    if off_ms <= MAX_STEP_MS {
        return;
    }
    let off = in_words(off_ms);
    let (documents, about) = match engine.expired_since(last).await {
        Ok((amount, is_exact)) => (amount.documents, if is_exact { "" } else { "up to " }),
        Err(error) => {
            tracing::warn!(%error, off, "cannot count the documents that expired during the downtime");
            return;
        }
    };
    match status.reap_until {
        Some(_) => tracing::warn!(
            off,
            documents,
            "the database was off for {off}, by the wall clock of a new boot: {about}{documents} \
             documents have expired since then, and are kept from reaping until \
             'ebb admin clock accept', or for 24 hours"
        ),
        None => tracing::info!(
            off,
            documents,
            "the database was off for {off}: {about}{documents} documents have expired since then"
        ),
    }
}

/// Formats a duration as text, such as `26h 3m`.
fn in_words(ms: i64) -> String {
    let seconds = SignedDuration::from_secs(ms / 1000);
    format!("{seconds:#}")
}

#[cfg(test)]
mod tests {
    use clock::{ClockMode, Machine};

    use super::*;

    #[test]
    fn a_jump_is_refused_where_it_is_longer_than_allowed() {
        let start = |last| Clock::start(ClockMode::System, Box::new(Machine), [1; 16], last);
        let first = start(None).unwrap();
        check_jump(&first, Some(Duration::ZERO)).unwrap();
        let mut last = first.tick();
        last.boot_id = [2; 16];
        last.ms -= 7_200_000;
        let again = start(Some(last)).unwrap();
        check_jump(&again, None).unwrap();
        check_jump(&again, Some(Duration::from_secs(7_300))).unwrap();
        let refused = check_jump(&again, Some(Duration::from_secs(7_100))).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("2h") && text.contains("--max-forward-jump"), "{text}");
    }
}
