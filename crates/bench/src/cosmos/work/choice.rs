//! What most workers have: a container of items, and the chance to choose one of them.

use fastrand::Rng;

use super::{
    super::{container::Container, target::Target},
    Settings,
};
use crate::error::Result;

/// A choice among the items of a container.
pub(super) struct Choice {
    /// Where they are.
    pub(super) container: Container,
    /// How many.
    pub(super) items: u64,
    /// The chance.
    pub(super) rng: Rng,
}

impl Choice {
    /// Returns what makes each worker's choice among the items that most workloads share; they are loaded
    /// if they are not there.
    pub(super) async fn shared_items(
        target: &mut Target,
        settings: &Settings,
    ) -> Result<impl Fn(usize) -> Self + use<>> {
        let (items, settings) = (settings.sizes.items, *settings);
        let container = target.need_items(items).await?;
        Ok(move |worker| Self {
            container: container.clone(),
            items,
            rng: settings.worker_rng(worker),
        })
    }

    /// Returns the number of one of them; each is as likely.
    pub(super) fn choose_number(&mut self) -> u64 {
        self.rng.u64(..self.items)
    }
}
