//! What expires when: the forecast under the settings in force, the preview of another default, and
//! series of expirations step by step, of one collection or of all at one instant.
//!
//! All of them are differences: what is live at one instant less what is live at a later one, if
//! nothing is written. Where counters know, that costs a few reads for each instant; where they do
//! not, one walk over the headers serves all instants.

use std::sync::Arc;

use clock::Instant;
use expiry::{DefaultTtl, Settings};
use store::Store;

use super::live_counts::CountBy;
use crate::{
    amount::{Amount, Unreaped},
    attempts::Attempts,
    catalog::{Collection, IndexSpec},
    engine::Engine,
    error::{Error, Halt, Kind, What},
    limits::{MAX_SERIES_STEP_S, MAX_SERIES_STEPS},
    names::Model,
    retry::read_in_view,
    view::{LiveView, open_all},
};

/// Seconds of the three horizons.
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;
const WEEK_S: i64 = 604_800;

/// Expirations within spans from now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HorizonAmounts {
    /// The next hour.
    pub hour: Amount,
    /// The next day.
    pub day: Amount,
    /// The next week.
    pub week: Amount,
}

/// What is live and what expires when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The default in force.
    pub default: DefaultTtl,
    /// Live now.
    pub live: Amount,
    /// Expirations to come, if nothing is written.
    pub expires_within: HorizonAmounts,
    /// Expired documents not yet reaped.
    pub unreaped: Unreaped,
    /// How many indexes make documents expire by a date of their own, whatever the default is.
    pub date_indexes: usize,
}

/// What another default would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Expirations at once.
    pub expires_now: Amount,
    /// Expirations to come, those at once left out.
    pub expires_within: HorizonAmounts,
}

/// How long the steps of a series are, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesSteps {
    /// Seconds of one step.
    seconds: i64,
    /// How many steps there are.
    count: usize,
}

impl SeriesSteps {
    /// This many steps of this many seconds, within their limits.
    pub fn new(seconds: i64, count: i64) -> Result<Self, Error> {
        let in_reach = 1..=MAX_SERIES_STEP_S;
        let held = usize::try_from(count).ok().filter(|n| (1..=MAX_SERIES_STEPS).contains(n));
        match held {
            Some(count) if in_reach.contains(&seconds) => Ok(Self { seconds, count }),
            _ => {
                let message = format!(
                    "a step has 1..{MAX_SERIES_STEP_S} seconds, and there are 1..{MAX_SERIES_STEPS} steps"
                );
                Err(Error::new(Kind::Invalid, message))
            }
        }
    }

    /// Seconds of one step.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Where each step ends, from an instant on.
    fn end_instants(self, from: Instant) -> Vec<Instant> {
        let ends = (1..=self.count).scan(from, |end, _| {
            *end = end.plus_ms(self.seconds.saturating_mul(1000));
            Some(*end)
        });
        ends.collect()
    }
}

/// Expirations to come, if nothing is written: those of a step come after its beginning and not
/// after its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Where the first step begins.
    pub now: Instant,
    /// Expirations of each step.
    pub steps: Vec<Amount>,
}

/// What is live in all collections and expires when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForecastOfAll {
    /// Collections, of both models.
    pub collections: usize,
    /// Live now.
    pub live: Amount,
    /// Expirations to come.
    pub series: Series,
    /// Expired documents not yet reaped, as the reaper last saw it.
    pub unreaped: Unreaped,
}

impl<S: Store> Engine<S> {
    /// What of a collection expires in each of some steps from now on.
    pub async fn expiry_series(
        &self,
        collection: &Arc<Collection>,
        steps: SeriesSteps,
    ) -> Result<Series, Error> {
        let read = read_in_view!(self, collection, |view| {
            view.expirations_to_come(&view.state.record.settings, &steps.end_instants(view.instant))
                .await
        });
        let ((_, deaths), view) = read?;
        Ok(Series { now: view.instant, steps: step_differences(&deaths) })
    }

    /// The same over all collections, at one instant.
    pub async fn forecast_all(&self, steps: SeriesSteps) -> Result<ForecastOfAll, Error> {
        let mut attempts = Attempts::to_read();
        'again: loop {
            attempts.begin_next()?;
            let all = [Model::Documents, Model::Items].map(|model| self.collections(model));
            // Of both models: an operator asks about the server.
            let all: Vec<_> = all.into_iter().flatten().map(|(_, collection)| collection).collect();
            // One instant for all collections, or the sums would be of no moment at all.
            let Some((now, views)) = open_all(&self.inner.views, &all).await? else { continue };
            let ends = steps.end_instants(now);
            let mut live = Amount::default();
            let mut deaths = vec![Amount::default(); ends.len()];
            for view in &views {
                match view.expirations_to_come(&view.state.record.settings, &ends).await {
                    Ok((of, up_to)) => {
                        live = live.plus(of);
                        deaths.iter_mut().zip(up_to).for_each(|(sum, of)| *sum = sum.plus(of));
                    }
                    // One collection that cannot tell stops all, since the instant has to be one.
                    Err(halt) => {
                        self.resolve(view, halt).await?;
                        continue 'again;
                    }
                }
            }
            let series = Series { now, steps: step_differences(&deaths) };
            let unreaped = self.reap_backlog();
            return Ok(ForecastOfAll { collections: views.len(), live, series, unreaped });
        }
    }

    /// What of all collections has expired since an instant, and whether that is exact: where the
    /// counters do not know, all that has expired and is stored counts.
    pub async fn expired_since(&self, then: Instant) -> Result<(Amount, bool), Error> {
        let (mut sum, mut is_exact) = (Amount::default(), true);
        for model in [Model::Documents, Model::Items] {
            for (_, collection) in self.collections(model) {
                let read =
                    read_in_view!(self, &collection, |view| { view.expired_since(then).await });
                let (amount, exact) = match read {
                    Ok((of, _)) => of,
                    // It was dropped meanwhile.
                    Err(_) if collection.is_dropped() => continue,
                    Err(error) => return Err(error),
                };
                (sum, is_exact) = (sum.plus(amount), is_exact && exact);
            }
        }
        Ok((sum, is_exact))
    }

    /// What is live in a collection and what expires when.
    pub async fn forecast_collection(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<Forecast, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_forecast(self).await)?.0)
    }

    /// What `default` would do to a collection; nothing is changed.
    pub async fn preview_default(
        &self,
        collection: &Arc<Collection>,
        default: DefaultTtl,
    ) -> Result<Preview, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_preview(default).await)?.0)
    }

    /// What another time of a date index would do to a collection, in seconds after the date; nothing is changed.
    ///
    /// # Errors
    ///
    /// [`Kind::NotFound`] where no index of this name expires documents by a date.
    pub async fn preview_date_index(
        &self,
        collection: &Arc<Collection>,
        index: &str,
        after_s: i64,
    ) -> Result<Preview, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_date_preview(index, after_s).await)?.0)
    }
}

/// Whether documents expire by a date that an index is on; the default has an index too, of none.
fn by_date(index: &IndexSpec) -> bool {
    !index.system_ttl && index.expire_after.is_some()
}

impl<S: Store> LiveView<S> {
    /// What has expired between an instant and the view's, and whether that is exact.
    async fn expired_since(&self, then: Instant) -> Result<(Amount, bool), Halt> {
        let record = &self.state.record;
        let settings = &record.settings;
        match CountBy::of_settings(record, settings) {
            CountBy::None => Ok((Amount::default(), true)),
            CountBy::Classes | CountBy::Date(_) => {
                let now = self.expired_amount(&settings.floors_at(self.instant)).await?;
                let before = self.expired_amount(&settings.floors_at(then)).await?;
                Ok((now.minus(before), true))
            }
            CountBy::Several => {
                Ok((self.total_amount().await?.minus(self.count_live().await?), false))
            }
        }
    }

    /// The forecast at the view's instant. What is not reaped yet is estimated in a view of its
    /// own.
    async fn read_forecast(&self, engine: &Engine<S>) -> Result<Forecast, Halt> {
        let (settings, indexes) = (&self.state.record.settings, &self.state.record.indexes);
        let (live, deaths) = self.expirations_to_come(settings, &self.horizon_ends()).await?;
        Ok(Forecast {
            default: settings.default,
            live,
            expires_within: by_horizon(&deaths),
            unreaped: engine.unreaped_amount(&self.collection).await?,
            date_indexes: indexes.iter().filter(|index| by_date(index)).count(),
        })
    }

    /// What would be if the default were changed at the view's instant. Nothing is changed: the
    /// settings are a copy.
    async fn read_preview(&self, default: DefaultTtl) -> Result<Preview, Halt> {
        let mut settings = self.state.record.settings.clone();
        // With the floors of a real change: what has expired by now stays expired in the preview
        // too.
        settings.change_default(default, self.instant);
        self.preview_of(&settings).await
    }

    /// The same for the time of a date index.
    async fn read_date_preview(&self, index: &str, after_s: i64) -> Result<Preview, Halt> {
        let record = &self.state.record;
        let found = record.indexes.iter().find(|held| held.name == index && by_date(held));
        let Some(found) = found else {
            let why = format!("no index {index} expires documents by a date");
            return Err(Error::new(Kind::NotFound(What::Index(index.to_owned())), why).into());
        };
        let mut settings = record.settings.clone();
        // All rows of the view are older than the change would be.
        let stamp = self.seq.saturating_add(1);
        settings.date_rule(found.id).change_at(Some(after_s), stamp, self.instant);
        self.preview_of(&settings).await
    }

    /// What would be under these settings at the view's instant.
    async fn preview_of(&self, settings: &Settings) -> Result<Preview, Halt> {
        // By the settings in force; below by those asked about, at the same instant.
        let before = self.count_live().await?;
        let (after, deaths) = self.expirations_to_come(settings, &self.horizon_ends()).await?;
        Ok(Preview { expires_now: before.minus(after), expires_within: by_horizon(&deaths) })
    }

    /// Where the three horizons end, counted from the view's instant.
    fn horizon_ends(&self) -> [Instant; 3] {
        [HOUR_S, DAY_S, WEEK_S].map(|seconds| self.instant.plus_ms(seconds * 1000))
    }

    /// What is live under these settings, and what of it has expired at each of some later
    /// instants, in their order.
    async fn expirations_to_come(
        &self,
        settings: &Settings,
        later: &[Instant],
    ) -> Result<(Amount, Vec<Amount>), Halt> {
        // The present is the first of them, so that all amounts are of one look.
        let mut instants = vec![self.instant];
        instants.extend_from_slice(later);
        let mut lives = self.live_at_each(settings, &instants).await?.into_iter();
        // The sums above may hold what expired in the last moments; this says so.
        self.check_sums().await?;
        let live = lives.next().unwrap_or_default();
        Ok((live, lives.map(|then| live.minus(then)).collect()))
    }
}

/// Names the amounts of [`horizon_ends`](LiveView::horizon_ends), in its order.
fn by_horizon(deaths: &[Amount]) -> HorizonAmounts {
    let up_to = |at: usize| deaths.get(at).copied().unwrap_or_default();
    HorizonAmounts { hour: up_to(0), day: up_to(1), week: up_to(2) }
}

/// Expirations between one instant and the next, of expirations up to each.
fn step_differences(up_to: &[Amount]) -> Vec<Amount> {
    let before = std::iter::once(Amount::default()).chain(up_to.iter().copied());
    up_to.iter().zip(before).map(|(end, start)| end.minus(start)).collect()
}
