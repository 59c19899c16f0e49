//! Hedged requests: if no reply arrives for some time, the same request is sent to another
//! coordinator, and the first reply counts. A node that is stopped, or whose link loses packets,
//! neither responds nor closes the connection, so only a delay detects it.

use std::{future::Future, time::Duration};

use cluster::Unanswered;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

/// Timing of the attempts of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttemptTiming {
    /// Delay before each further attempt.
    pub(crate) delay: Duration,
    /// Maximum number of attempts, at least 1.
    pub(crate) attempts: usize,
    /// Timeout of the whole request.
    pub(crate) limit: Duration,
}

/// Runs attempts until a reply `settles` the request. A failed attempt is followed by the next one
/// immediately. A reply that does not settle it ends further attempts, and is returned once the
/// pending ones have completed or another delay has passed: a lightweight transaction may be
/// refused only because an earlier attempt was applied, and only the reply to that attempt shows
/// it.
///
/// `delayed` is called each time a delay passes without a reply.
pub(crate) async fn race<T, A>(
    pace: AttemptTiming,
    mut attempt: impl FnMut() -> A,
    settles: impl Fn(&T) -> bool,
    mut delayed: impl FnMut(),
) -> Result<T, Unanswered>
where
    A: Future<Output = Result<T, Unanswered>>,
{
    let end = Instant::now() + pace.limit;
    let mut under_way = FuturesUnordered::from_iter([attempt()]);
    let mut left = pace.attempts.saturating_sub(1);
    let mut unsettled = None;
    let mut failure = Unanswered("timed out waiting for an answer".to_owned());
    loop {
        let wakes = left > 0 || unsettled.is_some();
        let until = if wakes { end.min(Instant::now() + pace.delay) } else { end };
        match timeout_at(until, under_way.next()).await {
            Ok(Some(Ok(answer))) if settles(&answer) => return Ok(answer),
            Ok(Some(Ok(answer))) => (unsettled, left) = (Some(answer), 0),
            Ok(Some(Err(error))) => failure = error,
            Ok(None) if left == 0 => return unsettled.ok_or(failure),
            Ok(None) => {
                left -= 1;
                under_way.push(attempt());
            }
            Err(_) if unsettled.is_some() || until == end => return unsettled.ok_or(failure),
            Err(_) => {
                delayed();
                left -= 1;
                under_way.push(attempt());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::pending};

    use futures_util::{FutureExt, future::LocalBoxFuture};

    use super::*;

    const DELAY: Duration = Duration::from_millis(100);

    /// Behavior of an attempt in a test: a reply or failure after some milliseconds, or nothing.
    #[derive(Clone, Copy)]
    enum Does {
        Answers(u64, u8),
        Fails(u64),
        Hangs,
    }

    async fn pass(ms: u64) {
        let _ = tokio::time::timeout(Duration::from_millis(ms), pending::<()>()).await;
    }

    fn run(does: Does) -> LocalBoxFuture<'static, Result<u8, Unanswered>> {
        async move {
            match does {
                Does::Answers(ms, answer) => {
                    pass(ms).await;
                    Ok(answer)
                }
                Does::Fails(ms) => {
                    pass(ms).await;
                    Err(Unanswered("failed".to_owned()))
                }
                Does::Hangs => pending().await,
            }
        }
        .boxed_local()
    }

    /// Races attempts that behave like `does`. Returns the result, the number of attempts and the
    /// duration in milliseconds. Replies of 100 and more count as transient failures.
    async fn raced(does: &[Does], attempts: usize) -> (Option<u8>, usize, u128) {
        let (next, began) = (Cell::new(0), Instant::now());
        let attempt = || {
            let number = next.get();
            next.set(number + 1);
            run(does[number])
        };
        let pace = AttemptTiming { delay: DELAY, attempts, limit: Duration::from_secs(2) };
        let raced = race(pace, attempt, |answer| *answer < 100, || {}).await;
        (raced.ok(), next.get(), began.elapsed().as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_node_costs_one_delay() {
        use Does::{Answers, Fails, Hangs};
        for (does, attempts, expected) in [
            // No second attempt if a reply arrives soon.
            (&[Answers(99, 1)][..], 3, (Some(1), 1, 99)),
            (&[Hangs, Answers(5, 2)], 3, (Some(2), 2, 105)),
            (&[Hangs, Hangs, Answers(5, 3)], 3, (Some(3), 3, 205)),
            // The first attempt is merely slow.
            (&[Answers(103, 1), Answers(5, 2)], 3, (Some(1), 2, 103)),
            (&[Fails(5), Answers(5, 2)], 3, (Some(2), 2, 10)),
            (&[Fails(5), Fails(5), Fails(5)], 3, (None, 3, 15)),
            (&[Hangs, Hangs], 2, (None, 2, 2_000)),
            (&[Hangs], 1, (None, 1, 2_000)),
        ] {
            assert_eq!(raced(does, attempts).await, expected);
        }
    }

    /// A refusal waits for the earlier attempt, which may have caused it.
    #[tokio::test(start_paused = true)]
    async fn an_answer_that_settles_goes_before_a_refusal() {
        use Does::{Answers, Hangs};
        for (does, expected) in [
            (&[Answers(150, 1), Answers(5, 100)][..], (Some(1), 2, 150)),
            (&[Hangs, Answers(5, 100)], (Some(100), 2, 205)),
            (&[Answers(5, 100)], (Some(100), 1, 5)),
        ] {
            assert_eq!(raced(does, 3).await, expected);
        }
    }
}
