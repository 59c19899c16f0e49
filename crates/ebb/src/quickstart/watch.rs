//! Shows how the sample disappears: a bar for each API, drawn anew every second. The counts are the
//! server's, so a bar shows what a query would find.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::Part;
use crate::{client::Client, ending::print_text};

/// Time between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// The line of a bar, in the template language of `indicatif`.
const LINE: &str = "  {prefix:8} {bar:40} {pos:>3} live {msg}";
/// How often it looks at most, about once a second. A look takes its time, and somebody else may
/// write into the sample, so what is shown may never come to its end.
const LONGEST: u64 = 120;

/// Shows what is live until nothing expires any more, or for [`LONGEST`] looks. An error is the text
/// of a request that failed; the bars stay as they are then.
pub(super) fn watch_expiry(client: &Client, parts: &[Part]) -> Result<(), String> {
    let all = MultiProgress::new();
    let style = ProgressStyle::with_template(LINE).map_err(|error| error.to_string())?;
    let bars: Vec<_> = parts
        .iter()
        .map(|part| {
            let bar = all.add(ProgressBar::new(part.count).with_position(part.count));
            bar.set_style(style.clone().progress_chars("##-"));
            bar.set_prefix(part.name);
            (part, bar)
        })
        .collect();
    for _ in 0..LONGEST {
        let mut rest = 0;
        for (part, bar) in &bars {
            let (live, dies) = count_left(client, part)?;
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
    print_text("\nRun it again to begin anew.\n");
    Ok(())
}

/// Returns how many sessions are live, and how many of these expire within the hour.
fn count_left(client: &Client, part: &Part) -> Result<(u64, u64), String> {
    let path = format!("/_ebb/databases/quickstart/collections/sessions/expiry?door={}", part.door);
    let expiry = client.get(&path)?;
    let count = |at: &str| expiry.pointer(at).and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ok((count("/live/documents"), count("/dies_within/hour/documents")))
}

/// Waits for [`EVERY`]; this process has nothing else to do on this thread.
#[expect(clippy::disallowed_methods, reason = "somebody watches, second by second")]
fn pause_second() {
    std::thread::sleep(EVERY);
}
