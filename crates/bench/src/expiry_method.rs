//! Documents that all expire at one instant. If the database clock can be moved, they have a `ttl`;
//! otherwise they have a date with a TTL index, and expire when the wall clock reaches the instant.

use std::time::Duration;

use document::{DocBuf, DocBuilder, ValueRef};
use fastrand::Rng;

use crate::{
    commands,
    connection::Connection,
    error::{Error, Result},
    expiry_observer::BLUR,
    limits::{LIFE_SECONDS, MORTAL_BYTES},
    pause, records,
    target::Target,
};

/// Method by which the documents of a collection expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpiryMethod {
    /// The documents have a `ttl` of an hour. They expire when the server's clock is moved to
    /// `deadline`, in milliseconds since 1970.
    Moved { deadline: i64 },
    /// The documents have the date `written` in milliseconds since 1970. A TTL index on it is
    /// created later, with a number of seconds by which they expire at the intended instant.
    Dated { written: i64 },
}

/// The instant of expiry, given by two bounds on the machine's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpiryBounds {
    /// Instant until which all documents live, so that replies must include them.
    pub(crate) alive_until: Duration,
    /// Instant from which requests must not return the expired documents.
    pub(crate) expired_from: Duration,
}

impl ExpiryMethod {
    /// Creates an empty collection in which documents can expire. The method depends on whether the
    /// server's clock can be moved.
    pub(crate) async fn prepare_collection(target: &Target, collection: &str) -> Result<Self> {
        target.drop_collection(collection).await?;
        let mut link = target.connect_link().await?;
        if let Some(now) = manual_now(&mut link).await? {
            let index = commands::create_index(collection, &[("_ts", 1)], Some(-1));
            link.call_command(index).await?;
            let second = now.div_euclid(1000);
            return Ok(Self::Moved { deadline: (second + LIFE_SECONDS) * 1000 });
        }
        // A mongod checks once a minute by default; a server without the setting is accepted.
        let often = [("ttlMonitorSleepSecs", ValueRef::Int32(1))];
        allow_refusal(link.call_command(commands::admin_command("setParameter", &often)).await)?;
        Ok(Self::Dated { written: clock::wall_ms().div_euclid(1000) * 1000 })
    }

    /// Returns a document. If it is `expiring`, it expires at the instant of expiry.
    pub(crate) fn make_document(self, number: u64, expiring: bool, rng: &mut Rng) -> DocBuf {
        let mut builder = DocBuilder::with_buffer(Vec::with_capacity(MORTAL_BYTES + 100));
        builder.append("_id", ValueRef::Int64(number.cast_signed()));
        if expiring {
            self.put_lifetime(&mut builder);
        }
        builder.append("text", ValueRef::String(&records::random_text(MORTAL_BYTES, rng)));
        builder.finish()
    }

    /// Appends the field that makes a document expire.
    pub(crate) fn put_lifetime(self, builder: &mut DocBuilder) {
        match self {
            Self::Moved { .. } => {
                let life = i32::try_from(LIFE_SECONDS).unwrap_or(i32::MAX);
                builder.append("ttl", ValueRef::Int32(life));
            }
            Self::Dated { written } => builder.append("at", ValueRef::DateTime(written)),
        }
    }

    /// Determines the instant of expiry and returns it. It is `at` or, because a TTL index counts
    /// whole seconds, up to a second later.
    pub(crate) async fn fix_instant(
        self,
        target: &Target,
        collection: &str,
        at: Duration,
    ) -> Result<Duration> {
        let Self::Dated { written } = self else { return Ok(at) };
        let left = at.saturating_sub(clock::monotonic_time());
        let left = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
        // A TTL index counts whole seconds after the date in the documents; rounded up.
        let seconds = (clock::wall_ms() + left - written).div_euclid(1000) + 1;
        let mut link = target.connect_link().await?;
        link.call_command(commands::create_index(collection, &[("at", 1)], Some(seconds))).await?;
        let left = written + seconds * 1000 - clock::wall_ms();
        Ok(clock::monotonic_time() + Duration::from_millis(u64::try_from(left).unwrap_or(0)))
    }

    /// Waits for the instant of expiry; a clock that can be moved is moved to it. Returns the
    /// bounds of the instant.
    pub(crate) async fn wait_for_expiry(
        self,
        link: &mut Connection,
        at: Duration,
    ) -> Result<ExpiryBounds> {
        pause::pause_until(at).await;
        if let Self::Moved { deadline } = self {
            let alive_until = clock::monotonic_time();
            let set = [("set", ValueRef::DateTime(deadline))];
            link.call_command(commands::admin_command("ebbClock", &set)).await?;
            return Ok(ExpiryBounds { alive_until, expired_from: clock::monotonic_time() });
        }
        Ok(ExpiryBounds { alive_until: at.saturating_sub(BLUR), expired_from: at })
    }
}

/// Returns the time of a manual database clock in milliseconds since 1970; `None` if the server's
/// clock is not manual.
async fn manual_now(link: &mut Connection) -> Result<Option<i64>> {
    match link.call_command(commands::admin_command("ebbClock", &[])).await {
        Ok(reply) => match (reply.get_field("mode"), reply.get_field("now")) {
            (Some(ValueRef::String("manual")), Some(ValueRef::DateTime(now))) => Ok(Some(now)),
            _ => Ok(None),
        },
        Err(Error::Server { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ignores a refusal, because the command is optional.
fn allow_refusal<T>(outcome: Result<T>) -> Result<()> {
    match outcome {
        Err(error) if !error.is_refusal() => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mortal_documents_carry_a_lifetime() {
        let moved = ExpiryMethod::Moved { deadline: 0 };
        let dated = ExpiryMethod::Dated { written: 5000 };
        for (expiry_method, expiring, ttl, at) in [
            (moved, true, true, false),
            (moved, false, false, false),
            (dated, true, false, true),
            (dated, false, false, false),
        ] {
            let document = expiry_method.make_document(9, expiring, &mut Rng::with_seed(1));
            document::validate(document.bytes()).unwrap();
            assert_eq!(document.get("ttl").is_some(), ttl, "{expiry_method:?} {expiring}");
            assert_eq!(document.get("at").is_some(), at, "{expiry_method:?} {expiring}");
            assert!(MORTAL_BYTES < document.bytes().len());
        }
    }
}
