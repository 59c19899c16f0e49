//! Shows how the sample expires, with a bar for each API that is updated every second. The counts
//! come from the server, so they equal the results of a query.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::Sample;
use crate::{client::Client, print_text};

const EVERY: Duration = Duration::from_secs(1);
/// Template of a bar, for `indicatif`.
const LINE: &str = "  {prefix:8} {bar:40} {pos:>3} live {msg}";
/// Maximum number of updates, about one per second. It is needed because the sample may never
/// become empty if other clients write to it.
const LONGEST: u64 = 120;

/// Shows the live sessions until all that can expire have expired, or for [`LONGEST`] updates.
/// Fails with the message of a failed request; the bars drawn so far remain.
pub(super) fn watch_expiry(client: &Client, samples: &[Sample]) -> Result<(), String> {
    let all = MultiProgress::new();
    let style = ProgressStyle::with_template(LINE).map_err(|error| error.to_string())?;
    let bars: Vec<_> = samples
        .iter()
        .map(|sample| {
            let bar = all.add(ProgressBar::new(sample.count).with_position(sample.count));
            bar.set_style(style.clone().progress_chars("##-"));
            bar.set_prefix(sample.name);
            (sample, bar)
        })
        .collect();
    for _ in 0..LONGEST {
        let mut rest = 0;
        for (sample, bar) in &bars {
            let (live, dies) = count_left(client, sample)?;
            bar.set_position(live);
            bar.set_message(if dies == 0 { "that stay: their ttl is -1" } else { "" });
            rest += dies;
        }
        if rest == 0 {
            break;
        }
        pause_second();
    }
    bars.iter().for_each(|(_, bar)| bar.abandon());
    print_text("\nRun it again to start over.\n");
    Ok(())
}

/// Returns the number of live sessions, and how many of them expire within an hour.
fn count_left(client: &Client, sample: &Sample) -> Result<(u64, u64), String> {
    let path =
        format!("/_ebb/databases/quickstart/collections/sessions/expiry?door={}", sample.api);
    let expiry = client.get(&path)?;
    let count = |at: &str| expiry.pointer(at).and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ok((count("/live/documents"), count("/dies_within/hour/documents")))
}

/// Sleeps for [`EVERY`]; this thread has nothing else to do.
#[expect(clippy::disallowed_methods, reason = "the display is updated every second")]
fn pause_second() {
    std::thread::sleep(EVERY);
}
