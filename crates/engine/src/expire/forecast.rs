//! Forecasts of expiry: under the current settings, as a preview of another default, and as series
//! of steps, for one collection or for all at one instant.
//!
//! All are differences: the live amount at one instant minus the amount that would be live at a
//! later one without further writes. Where counters apply, an instant costs a few reads; otherwise
//! one scan of the headers serves all instants.

use std::sync::Arc;

use clock::Instant;
use expiry::{DefaultTtl, Settings};

use super::live_counts::CountBy;
use crate::{
    amount::{Amount, Unreaped},
    attempts::Attempts,
    catalog::{Collection, ID_INDEX, IndexSpec},
    engine::Engine,
    error::{Error, ErrorSubject, Halt, Kind},
    limits::{MAX_SERIES_STEP_S, MAX_SERIES_STEPS},
    names::Model,
    retry::read_in_view,
    view::{LiveView, open_all},
};

/// Length of the shortest of the three forecast horizons, in seconds.
const HOUR_S: i64 = 3_600;
const DAY_S: i64 = 86_400;
const WEEK_S: i64 = 604_800;

/// Amounts that expire within given periods from now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HorizonAmounts {
    /// Amount that expires within the next hour.
    pub hour: Amount,
    /// Amount that expires within the next day.
    pub day: Amount,
    /// Amount that expires within the next week.
    pub week: Amount,
}

/// The live documents of a collection and when they expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The collection's current default TTL.
    pub default: DefaultTtl,
    /// Amount that is live now.
    pub live: Amount,
    /// Future expirations if nothing is written.
    pub expires_within: HorizonAmounts,
    /// Expired documents that are not reaped yet.
    pub unreaped: Unreaped,
    /// Number of indexes that expire documents by a date, independently of the default.
    pub date_indexes: usize,
}

/// The effect that another default TTL would have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Number and bytes of documents that would expire immediately.
    pub expires_now: Amount,
    /// Later expirations, without the documents that would expire immediately.
    pub expires_within: HorizonAmounts,
}

/// Length and number of the steps of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesSteps {
    seconds: i64,
    count: usize,
}

impl SeriesSteps {
    /// Creates `count` steps of `seconds` each; fails if either exceeds its limits.
    pub fn new(seconds: i64, count: i64) -> Result<Self, Error> {
        let in_reach = 1..=MAX_SERIES_STEP_S;
        let held = usize::try_from(count).ok().filter(|n| (1..=MAX_SERIES_STEPS).contains(n));
        match held {
            Some(count) if in_reach.contains(&seconds) => Ok(Self { seconds, count }),
            _ => {
                let message = format!(
                    "a step must be 1..{MAX_SERIES_STEP_S} seconds, and the number of steps \
                     1..{MAX_SERIES_STEPS}"
                );
                Err(Error::new(Kind::Invalid, message))
            }
        }
    }

    /// Returns the length of a step in seconds.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the end of each step, starting from an instant.
    fn end_instants(self, from: Instant) -> Vec<Instant> {
        let ends = (1..=self.count).scan(from, |end, _| {
            *end = end.plus_ms(self.seconds.saturating_mul(1000));
            Some(*end)
        });
        ends.collect()
    }
}

/// Future expirations if nothing is written. A step excludes its start and includes its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Instant of the forecast, at which the first step starts.
    pub now: Instant,
    /// Amount that expires in each step.
    pub steps: Vec<Amount>,
}

/// The live documents of all collections and when they expire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForecastOfAll {
    /// Number of collections of both models.
    pub collections: usize,
    /// Amount that is live now.
    pub live: Amount,
    /// The amounts that expire in future periods.
    pub series: Series,
    /// Expired documents that are not reaped yet, as of the reaper's last pass.
    pub unreaped: Unreaped,
}

impl Engine {
    /// Returns the amount that expires in a collection in each step from now on.
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

    /// Returns a series over all collections, at one instant.
    pub async fn forecast_all(&self, steps: SeriesSteps) -> Result<ForecastOfAll, Error> {
        let mut attempts = Attempts::to_read();
        'again: loop {
            attempts.begin_next()?;
            let all = [Model::Documents, Model::Items].map(|model| self.collections(model));
            let all: Vec<_> = all.into_iter().flatten().map(|(_, collection)| collection).collect();
            // With different instants the sums would not describe any moment.
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
                    // If the view of one collection cannot decide which documents have expired, all
                    // collections are read again, since they need the same instant.
                    Err(halt) => {
                        self.resolve(view, halt, &mut attempts).await?;
                        continue 'again;
                    }
                }
            }
            let series = Series { now, steps: step_differences(&deaths) };
            let unreaped = self.reap_backlog();
            return Ok(ForecastOfAll { collections: views.len(), live, series, unreaped });
        }
    }

    /// Returns the amount that has expired in all collections since an instant, and whether it is
    /// exact: where counters do not apply, all documents that have expired and are still stored are
    /// included.
    pub async fn expired_since(&self, then: Instant) -> Result<(Amount, bool), Error> {
        let (mut sum, mut is_exact) = (Amount::default(), true);
        for model in [Model::Documents, Model::Items] {
            for (_, collection) in self.collections(model) {
                let read =
                    read_in_view!(self, &collection, |view| { view.expired_since(then).await });
                let (amount, exact) = match read {
                    Ok((of, _)) => of,
                    // The collection has been dropped since.
                    Err(_) if collection.is_dropped() => continue,
                    Err(error) => return Err(error),
                };
                (sum, is_exact) = (sum.plus(amount), is_exact && exact);
            }
        }
        Ok((sum, is_exact))
    }

    /// Returns the forecast of a collection.
    pub async fn forecast_collection(
        &self,
        collection: &Arc<Collection>,
    ) -> Result<Forecast, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_forecast(self).await)?.0)
    }

    /// Returns the effect that a new default would have; changes nothing.
    pub async fn preview_default(
        &self,
        collection: &Arc<Collection>,
        default: DefaultTtl,
    ) -> Result<Preview, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_preview(default).await)?.0)
    }

    /// Returns the effect that another TTL of a date index would have; changes nothing.
    ///
    /// # Errors
    ///
    /// [`Kind::NotFound`] if no date index has this name.
    pub async fn preview_date_index(
        &self,
        collection: &Arc<Collection>,
        index: &str,
        after_s: i64,
    ) -> Result<Preview, Error> {
        Ok(read_in_view!(self, collection, |view| view.read_date_preview(index, after_s).await)?.0)
    }
}

/// Returns whether the index expires documents by a date; the index of the default TTL does not.
fn by_date(index: &IndexSpec) -> bool {
    !index.system_ttl && index.expire_after.is_some()
}

impl LiveView {
    /// Returns the amount that has expired between an instant and the view's instant, and whether
    /// it is exact.
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

    /// Returns the forecast at the view's instant. The unreaped amount is estimated in another
    /// view.
    async fn read_forecast(&self, engine: &Engine) -> Result<Forecast, Halt> {
        let (settings, indexes) = (&self.state.record.settings, &self.state.record.indexes);
        let (live, deaths) = self.expirations_to_come(settings, &self.horizon_ends()).await?;
        Ok(Forecast {
            default: settings.default,
            live,
            expires_within: by_horizon(&deaths),
            unreaped: engine.unreaped_amount(&self.collection).await?,
            date_indexes: indexes.iter().filter(|index| by_date(index)).count()
                + usize::from(self.state.record.cluster_expire_after().is_some()),
        })
    }

    /// Returns the effect of changing the default at the view's instant, on a copy of the settings.
    async fn read_preview(&self, default: DefaultTtl) -> Result<Preview, Halt> {
        let mut settings = self.state.record.settings.clone();
        // Raises the floors like a real change: expired documents stay expired in the preview too.
        settings.change_default(default, self.instant);
        self.preview_of(&settings).await
    }

    /// Returns the effect of changing a date index at the view's instant.
    async fn read_date_preview(&self, index: &str, after_s: i64) -> Result<Preview, Halt> {
        let record = &self.state.record;
        let found = record.indexes.iter().find(|held| held.name == index && by_date(held));
        let by_cluster_key =
            record.cluster_expire_after().is_some() && record.cluster_key.as_deref() == Some(index);
        let Some(id) = found.map(|found| found.id).or(by_cluster_key.then_some(ID_INDEX)) else {
            let why = format!("no index {index} expires documents by a date");
            return Err(
                Error::new(Kind::NotFound(ErrorSubject::Index(index.to_owned())), why).into()
            );
        };
        let mut settings = record.settings.clone();
        // The simulated change is stamped after the view, so that it applies to all rows of the
        // view.
        let stamp = self.seq.saturating_add(1);
        settings.date_rule(id).change_at(Some(after_s), stamp, self.instant);
        self.preview_of(&settings).await
    }

    /// Returns the effect of replacing the settings by these at the view's instant.
    async fn preview_of(&self, settings: &Settings) -> Result<Preview, Halt> {
        // The amount that is live by the current settings; compared below with the amount that is
        // live by the given settings at the same instant.
        let before = self.count_live().await?;
        let (after, deaths) = self.expirations_to_come(settings, &self.horizon_ends()).await?;
        Ok(Preview { expires_now: before.minus(after), expires_within: by_horizon(&deaths) })
    }

    /// Returns the instants an hour, a day and a week after the view's instant.
    fn horizon_ends(&self) -> [Instant; 3] {
        [HOUR_S, DAY_S, WEEK_S].map(|seconds| self.instant.plus_ms(seconds * 1000))
    }

    /// Returns the live amount under these settings, and how much of it has expired at each of
    /// these later instants.
    async fn expirations_to_come(
        &self,
        settings: &Settings,
        later: &[Instant],
    ) -> Result<(Amount, Vec<Amount>), Halt> {
        // The present is included, so that all amounts come from the same evaluation.
        let mut instants = vec![self.instant];
        instants.extend_from_slice(later);
        let mut lives = self.live_at_each(settings, &instants).await?.into_iter();
        // Detects sums that include documents that expired within the last moments.
        self.check_sums().await?;
        let live = lives.next().unwrap_or_default();
        Ok((live, lives.map(|then| live.minus(then)).collect()))
    }
}

/// Assigns the amounts that expire within an hour, a day and a week, in this order, to named
/// fields.
fn by_horizon(deaths: &[Amount]) -> HorizonAmounts {
    let up_to = |at: usize| deaths.get(at).copied().unwrap_or_default();
    HorizonAmounts { hour: up_to(0), day: up_to(1), week: up_to(2) }
}

/// Converts the amounts that expire until each instant to the amounts that expire between
/// consecutive instants.
fn step_differences(up_to: &[Amount]) -> Vec<Amount> {
    let before = std::iter::once(Amount::default()).chain(up_to.iter().copied());
    up_to.iter().zip(before).map(|(end, start)| end.minus(start)).collect()
}
