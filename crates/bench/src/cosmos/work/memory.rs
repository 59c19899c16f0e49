//! Measures the server's resident memory without load: before the items are loaded, and with the
//! items stored.

use super::{super::target::Target, Settings};
use crate::{
    error::{Error, Result},
    figures::{Figures, megabytes},
    process,
};

/// Measures the memory, loads the items, and measures it again. Requires the server's process id.
pub(super) async fn run_memory(target: &mut Target, settings: &Settings) -> Result<Figures> {
    let (Some(pid), Some(at_rest)) = (target.pid, target.at_rest) else {
        let why = "this workload reads the server's memory: specify the server's process";
        return Err(Error::Usage(why.to_owned()));
    };
    target.need_items(settings.sizes.items).await?;
    target.wait_until_idle().await;
    let mut figures = Figures { connections: 1, ..Figures::default() };
    figures.add_extra("resident as found, MB", megabytes(at_rest));
    figures.add_extra("resident with the items, MB", megabytes(process::resident_memory(pid)?));
    Ok(figures)
}
