//! Half of a container's items expire in one second of the wall clock while readers run. Measures
//! the latencies before and after that second, and whether a reader sees an expired item or misses
//! a live one. The wall clocks of server and load generator must agree.

use std::{sync::Arc, time::Duration};

use fastrand::Rng;
use serde_json::Value;

use super::{
    super::{
        container::Container,
        items::{self, Lifetime, PARTITION_ITEMS},
        link::Link,
        load::{self, ItemRange},
        target::Target,
    },
    Settings,
    choice::Choice,
    point, query,
};
use crate::{
    closed_loop::{self, Plan, Worker},
    error::{Error, Result},
    expiry_observer::{BLUR, ExpiryObserver, is_expiring},
    figures::Figures,
    limits::{CHECK_PAUSE, REST_BETWEEN},
    pause,
};

/// Default TTL in seconds of containers whose items must not expire during the measurement.
const DEFAULT_TTL: i64 = 86_400;
/// Minimum time between the end of a load and the first expiry.
const MARGIN: Duration = Duration::from_secs(5);
/// Maximum interval of checks for expired items.
const CHECK_PAUSE_MAX: Duration = Duration::from_secs(5);
/// The container whose items with odd numbers expire.
const CONTAINER: &str = "expiring";
/// Status of an existing item.
const FOUND: u16 = 200;
/// Status of a missing item.
const MISSING: u16 = 404;

struct Reader {
    expiry_observer: Arc<ExpiryObserver>,
    choice: Choice,
}

impl Worker<Link> for Reader {
    /// Reads an item; 200 and 404 are expected results, any other status is a refusal.
    async fn run_step(&mut self, link: &mut Link) -> Result<()> {
        let number = self.choice.choose_number();
        let sent = clock::monotonic_time();
        let answer = point::get_item(link, &self.choice.container, number).await?;
        let there = match answer.status {
            FOUND => true,
            MISSING => false,
            _ => return answer.require_success().map(|_| ()),
        };
        self.expiry_observer.judge_read(sent, number, there)
    }
}

/// Runs queries of one partition, for ids and for the count, and checks their results until the run
/// ends.
async fn check_by_queries(
    mut link: Link,
    container: Container,
    expiry_observer: Arc<ExpiryObserver>,
    items: u64,
    mut rng: Rng,
) -> Result<()> {
    while !expiry_observer.is_over() {
        let begin = clock::monotonic_time();
        // The first item of a random partition: the query reads the whole partition.
        let first = rng.u64(..items) / PARTITION_ITEMS * PARTITION_ITEMS;
        let partition = items::partition_key(first);
        let there = first..items.min(first + PARTITION_ITEMS);
        let (all, expiring) =
            (there.end - there.start, there.filter(|number| is_expiring(*number)).count() as u64);

        let body = query::query_body("SELECT VALUE c.id", &partition, "");
        let sent = clock::monotonic_time();
        let answer = query::ask_query(&mut link, &container, Some(&partition), &body, None).await?;
        let found = count_expiring(&answer.parse_json()?);
        // The page may not be the last, so it cannot show missing items.
        expiry_observer.judge_request(sent, clock::monotonic_time(), found, 0);

        let body = query::query_body("SELECT VALUE COUNT(1)", &partition, "");
        let sent = clock::monotonic_time();
        let answer = query::ask_query(&mut link, &container, Some(&partition), &body, None).await?;
        let count = query::sum_numbers(&answer.parse_json()?)?;
        let beyond = count.saturating_sub(all - expiring);
        expiry_observer.judge_request(
            sent,
            clock::monotonic_time(),
            beyond,
            all.saturating_sub(count),
        );
        pause::pause_for(pause_after(clock::monotonic_time().saturating_sub(begin))).await;
    }
    Ok(())
}

/// Returns the delay after a check that took `look`. It is long enough that checks delay the
/// readers for at most a tenth of the time.
fn pause_after(look: Duration) -> Duration {
    (look * 9).clamp(CHECK_PAUSE, CHECK_PAUSE_MAX)
}

/// Returns the number of ids of expiring items.
fn count_expiring(answer: &Value) -> u64 {
    let ids = answer.get("Documents").and_then(Value::as_array).map(Vec::as_slice);
    let numbers = ids.unwrap_or_default().iter().filter_map(|id| {
        let digits = id.as_str()?.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        digits.parse().ok()
    });
    numbers.filter(|number| is_expiring(*number)).count() as u64
}

/// Loads the items, and returns the instant of the monotonic clock at which half of them expire.
/// The instant is chosen after the first half was loaded, from the time that loading it took.
async fn prepare_items(target: &Target, plan: Plan, items: u64) -> Result<(Container, Duration)> {
    let container = target.create_container(CONTAINER, Some(DEFAULT_TTL)).await?;
    let begin = clock::monotonic_time();
    let survivors =
        ItemRange { count: items.div_ceil(2), first: 0, step: 2, life: Lifetime::Endless };
    load::load_items(target, &container, survivors).await?;
    let took = clock::monotonic_time().saturating_sub(begin);
    let before = REST_BETWEEN + plan.warmup + plan.duration + plan.warmup;
    // Time for loading the second half, estimated generously, plus the quiet window.
    let wait = took * 2 + MARGIN + before;
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    let second = clock::wall_ms().saturating_add(wait).div_euclid(1000) + 1;
    let expiring = ItemRange { count: items / 2, first: 1, step: 2, life: Lifetime::Until(second) };
    load::load_items(target, &container, expiring).await?;
    let left = second.saturating_mul(1000) - clock::wall_ms();
    let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
    // The quiet window would not end before the items expire.
    if left < before {
        let why = "the second half of the items took too long to load: take fewer of them";
        return Err(Error::Usage(why.to_owned()));
    }
    let at = clock::monotonic_time() + left;
    target.wait_until_idle().await;
    Ok((container, at))
}

/// Measures reads in a window without expiry, then in a window in which half of the items expire.
/// Returns the figures of the second window. The figures of the first window and the numbers of
/// wrong results are extras.
pub(super) async fn run_expiry(
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let items = settings.sizes.expiry_items;
    let (container, at) = prepare_items(target, plan, items).await?;
    let expiry_observer = Arc::new(ExpiryObserver::default());
    expiry_observer.all_live_until(at.saturating_sub(BLUR));
    expiry_observer.expired_from(at);
    let reader = |worker| Reader {
        expiry_observer: Arc::clone(&expiry_observer),
        choice: Choice { container: container.clone(), items, rng: settings.worker_rng(worker) },
    };
    let (link, rng) = (target.connect_link().await?, settings.worker_rng(plan.connections));
    let looker =
        check_by_queries(link, container.clone(), Arc::clone(&expiry_observer), items, rng);
    let looker = tokio::spawn(looker);
    let quiet = closed_loop::run_workers(target, plan, reader).await?;
    let during = Plan { warmup: at.saturating_sub(clock::monotonic_time()), ..plan };
    let mut figures = closed_loop::run_workers(target, during, reader).await?;
    expiry_observer.stop_observers();
    looker.await.map_err(|error| Error::Usage(error.to_string()))??;
    expiry_observer.add_to_figures(&mut figures, &quiet);
    target.delete_container(CONTAINER).await?;
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn looks_leave_time_to_the_readers() {
        let ms = Duration::from_millis;
        for (look, want) in [(0, 10), (1, 10), (20, 180), (60_000, 5000)] {
            assert_eq!(pause_after(ms(look)), ms(want));
        }
    }

    #[test]
    fn mortal_items_are_known_by_their_ids() {
        for (answer, want) in [
            (json!({ "Documents": [] }), 0),
            (json!({ "Documents": ["user1", "user2", "user33"] }), 2),
            (json!({ "Documents": ["user", 7, null, "user5"] }), 1),
            (json!(null), 0),
        ] {
            assert_eq!(count_expiring(&answer), want, "{answer}");
        }
    }
}
