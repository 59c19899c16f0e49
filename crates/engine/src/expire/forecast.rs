//! What dies when: the forecast under the settings in force, and the preview of another default.

use std::sync::Arc;

use expiry::{Default, Settings};
use store::Store;

use super::Amount;
use crate::{Collection, Engine, Error, LiveView, error::Halt};

const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;
const WEEK_S: i64 = 604_800;

/// Deaths within spans from now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Within {
    /// The next hour.
    pub hour: Amount,
    /// The next day.
    pub day: Amount,
    /// The next week.
    pub week: Amount,
}

/// Dead bytes that are still there: an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unreaped {
    /// How much.
    pub amount: Amount,
    /// How long the oldest has been dead, seconds.
    pub oldest_dead_seconds: i64,
}

/// What is live and what dies when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The default in force.
    pub default: Default,
    /// Live now.
    pub live: Amount,
    /// Deaths to come, if nothing is written.
    pub dies_within: Within,
    /// Dead bytes not yet reaped.
    pub unreaped: Unreaped,
    /// Whether the counts are exact. They always are.
    pub exact: bool,
}

/// What another default would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Deaths at once.
    pub dies_now: Amount,
    /// Deaths to come, those at once left out.
    pub dies_within: Within,
    /// Whether the counts are exact. They always are.
    pub exact: bool,
}

impl<S: Store> Engine<S> {
    /// What is live in a collection and what dies when.
    pub async fn forecast(&self, collection: &Arc<Collection>) -> Result<Forecast, Error> {
        loop {
            let view = self.view(collection).await?;
            match view.forecast(self).await {
                Ok(forecast) => return Ok(forecast),
                Err(halt) => self.settle(collection, &view, halt).await?,
            }
        }
    }

    /// What `default` would do to a collection; nothing is changed.
    pub async fn preview(
        &self,
        collection: &Arc<Collection>,
        default: Default,
    ) -> Result<Preview, Error> {
        loop {
            let view = self.view(collection).await?;
            match view.preview(default).await {
                Ok(preview) => return Ok(preview),
                Err(halt) => self.settle(collection, &view, halt).await?,
            }
        }
    }
}

impl<S: Store> LiveView<S> {
    async fn forecast(&self, engine: &Engine<S>) -> Result<Forecast, Halt> {
        let settings = &self.state.record.settings;
        let live = self.live().await?;
        let dies_within = self.within(settings, live).await?;
        Ok(Forecast {
            default: settings.default,
            live,
            dies_within,
            unreaped: engine.unreaped(&self.collection).await?,
            exact: true,
        })
    }

    async fn preview(&self, default: Default) -> Result<Preview, Halt> {
        let mut settings = self.state.record.settings.clone();
        settings.change_default(default, self.instant);
        let before = self.live().await?;
        let after = self.live_at(&settings, self.instant).await?;
        let dies_within = self.within(&settings, after).await?;
        Ok(Preview { dies_now: before.minus(after), dies_within, exact: true })
    }

    async fn within(&self, settings: &Settings, live: Amount) -> Result<Within, Halt> {
        let mut within = Within::default();
        for (seconds, amount) in
            [(HOUR_S, &mut within.hour), (DAY_S, &mut within.day), (WEEK_S, &mut within.week)]
        {
            let later = self.instant.plus_ms(seconds * 1000);
            *amount = live.minus(self.live_at(settings, later).await?);
        }
        Ok(within)
    }
}
