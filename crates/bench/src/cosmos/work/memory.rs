//! The server's resident memory at rest: as it was found, and with the items.

use super::{super::target::Target, Settings};
use crate::{
    error::{Error, Result},
    figures::Figures,
    process,
};

/// Loads the items and returns what the process had before, and what it has with them. Needs the
/// server's process.
pub(super) async fn run(target: &mut Target, settings: &Settings) -> Result<Figures> {
    let (Some(pid), Some(at_rest)) = (target.pid, target.at_rest) else {
        let why = "this workload reads the server's memory: say which process it is";
        return Err(Error::Usage(why.to_owned()));
    };
    target.need(settings.sizes.items).await?;
    target.rest().await;
    let mut figures = Figures { connections: 1, ..Figures::default() };
    figures.extra("resident as found, MB", megabytes(at_rest));
    figures.extra("resident with the items, MB", megabytes(process::resident(pid)?));
    Ok(figures)
}

/// Returns bytes in megabytes of 10^6.
#[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
