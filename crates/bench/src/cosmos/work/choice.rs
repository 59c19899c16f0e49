//! A random choice among the items of a container. Most workers choose from the shared container.

use fastrand::Rng;

use super::{
    super::{container::Container, target::Target},
    Settings,
};
use crate::error::Result;

/// A random choice among the items of a container.
pub(super) struct Choice {
    pub(super) container: Container,
    /// Number of items to choose from.
    pub(super) items: u64,
    pub(super) rng: Rng,
}

impl Choice {
    /// Returns a function that creates the choice of each worker among the shared items. Loads the
    /// items if necessary.
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

    /// Returns a uniformly chosen item number.
    pub(super) fn choose_number(&mut self) -> u64 {
        self.rng.u64(..self.items)
    }
}
