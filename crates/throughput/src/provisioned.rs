//! Provisioned throughput and its bounds.

/// Smallest manual throughput in request units per second.
const MIN_MANUAL: i64 = 400;
/// Smallest maximum of an autoscale throughput, in request units per second.
const MIN_AUTOSCALE: i64 = 1000;
/// Largest throughput in request units per second.
const MAX: i64 = 1_000_000;

/// Throughput that is provisioned for a database, container or collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Throughput {
    /// Fixed number of request units per second.
    Manual(i64),
    /// Maximum throughput of autoscale, and the percentage by which the maximum is raised
    /// automatically, if any.
    Autoscale(i64, Option<i64>),
}

/// The error for a throughput that is out of bounds, or not a multiple of its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// The smallest permitted throughput of the refused kind (manual or autoscale).
    pub least: i64,
    /// The largest permitted throughput, manual or autoscale.
    pub most: i64,
    /// The number of which the throughput has to be a multiple.
    pub step: i64,
}

impl Default for Throughput {
    fn default() -> Self {
        Self::Manual(MIN_MANUAL)
    }
}

impl Throughput {
    /// Returns the throughput if it is within its bounds and a multiple of its step.
    pub fn check_bounds(self) -> Result<Self, OutOfBounds> {
        let (units, least, step) = match self {
            Self::Manual(units) => (units, MIN_MANUAL, 100),
            Self::Autoscale(units, _) => (units, MIN_AUTOSCALE, 1000),
        };
        if (least..=MAX).contains(&units) && units % step == 0 {
            return Ok(self);
        }
        Err(OutOfBounds { least, most: MAX, step })
    }

    /// Returns the limit in request units per second; for autoscale, the maximum.
    pub fn most_units(self) -> i64 {
        let (Self::Manual(units) | Self::Autoscale(units, _)) = self;
        units
    }

    /// Returns the provisioned throughput that responses report, in request units per second; for
    /// autoscale, a tenth of the maximum.
    pub fn shown_units(self) -> i64 {
        match self {
            Self::Manual(units) => units,
            Self::Autoscale(most, _) => most / 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_and_steps() {
        for (throughput, want) in [
            (Throughput::Manual(400), true),
            (Throughput::Manual(399), false),
            (Throughput::Manual(450), false),
            (Throughput::Manual(1_000_000), true),
            (Throughput::Manual(1_000_100), false),
            (Throughput::Manual(-400), false),
            (Throughput::Autoscale(1_000, None), true),
            (Throughput::Autoscale(1_500, None), false),
            (Throughput::Autoscale(900, None), false),
        ] {
            assert_eq!(throughput.check_bounds().is_ok(), want, "{throughput:?}");
        }
        assert_eq!(Throughput::Autoscale(4_000, None).shown_units(), 400);
        assert_eq!(Throughput::Autoscale(4_000, None).most_units(), 4_000);
    }
}
