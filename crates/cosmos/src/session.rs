//! Session tokens and consistency levels. A container has a single partition key range and a single
//! replica, so a token needs only one number: the commit of the container's last change that the
//! response reflects. A token is compared with the newest commit of the whole server, since earlier
//! versions issued that number; a token with a greater number is refused.
//!
//! ```text
//! 0:-1#42          range 0, version -1, commit 42
//! 0:-1#42#1=40     with numbers for each region, which are ignored
//! 0:-1#42,1:-1#7   several ranges; all but range 0 are ignored
//! ```
//!
//! A token may exceed the newest commit after a restore of older data.

use crate::{
    account::LEVEL,
    failure::{Failure, Fault, Result},
    limits::MAX_SESSION_TOKENS,
};

/// Id of a container's single partition key range.
pub(crate) const RANGE: &str = "0";

/// Returns the session token for a container whose last change is commit `seq`.
pub(crate) fn session_token(seq: u64) -> String {
    format!("{RANGE}:-1#{seq}")
}

/// Returns the session token without its range, as answers of direct mode have it.
pub(crate) fn session_version(seq: u64) -> String {
    format!("-1#{seq}")
}

/// Returns the newest commit in the session tokens of a header; `None` if one of them is malformed.
fn seen_by(header: &str) -> Option<u64> {
    let mut newest = 0;
    for (at, token) in header.split(',').enumerate() {
        if at == MAX_SESSION_TOKENS {
            return None;
        }
        let (range, version) = token.trim().split_once(':').unwrap_or((RANGE, token.trim()));
        if range.is_empty() || !range.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let global = match version.split_once('#') {
            None => version,
            Some((number, behind)) => {
                number.parse::<i64>().ok()?;
                let mut parts = behind.split('#');
                let global = parts.next()?;
                for region in parts {
                    let (id, local) = region.split_once('=')?;
                    id.parse::<i64>().ok()?;
                    local.parse::<i64>().ok()?;
                }
                global
            }
        };
        if range == RANGE {
            newest = newest.max(u64::try_from(global.parse::<i64>().ok()?).unwrap_or(0));
        }
    }
    Some(newest)
}

/// Returns the newest commit that a client has seen; 0 without a token. A malformed token is
/// refused, since ignoring it would break the session's guarantee.
pub(crate) fn parse_tokens(header: Option<&str>) -> Result<u64> {
    match header.map(str::trim) {
        None | Some("") => Ok(0),
        Some(header) => seen_by(header).ok_or_else(|| {
            Failure::bad_request(format!("The session token provided '{header}' is invalid."))
        }),
    }
}

/// Consistency levels from the strongest to the weakest.
const LEVELS: [&str; 5] = ["Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"];
/// Refuses an unknown consistency level, and a level stronger than the account's: a request may
/// only select a weaker level.
pub(crate) fn check_level(header: Option<&str>) -> Result<()> {
    let Some(asked) = header.map(str::trim).filter(|asked| !asked.is_empty()) else {
        return Ok(());
    };
    let place = |of: &str| LEVELS.iter().position(|level| level.eq_ignore_ascii_case(of));
    match (place(asked), place(LEVEL)) {
        (None, _) => Err(Failure::bad_request(format!(
            "Invalid value '{asked}' specified for header x-ms-consistency-level. It is one of {}.",
            LEVELS.join(", ")
        ))),
        (Some(asked), Some(most)) if asked < most => Err(Failure::bad_request(format!(
            "ConsistencyLevel {} specified in the request is invalid when the service is configured \
             with consistency level {LEVEL}. Ensure the request consistency level is not stronger \
             than the service consistency level.",
            LEVELS[asked]
        ))),
        _ => Ok(()),
    }
}

/// Refuses to serve a client that has seen newer data than the server has, with the status and
/// sub-status on which SDKs retry.
pub(crate) fn check_seen(seen: u64, seq: u64) -> Result<()> {
    if seen <= seq {
        return Ok(());
    }
    Err(Failure::new(
        Fault::Session,
        "The read/write session is not available for the input session token.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        for (header, want) in [
            (None, Some(0)),
            (Some(""), Some(0)),
            (Some("0:-1#5"), Some(5)),
            (Some("0:5"), Some(5)),
            (Some("5"), Some(5)),
            (Some("0:-1#5#1=7#2=8"), Some(5)),
            (Some("0:-1#5,0:-1#9, 0:-1#7"), Some(9)),
            (Some("1:-1#50,0:-1#9"), Some(9)),
            (Some("0:-1#-1"), Some(0)),
            (Some("0:"), None),
            (Some("0:x"), None),
            (Some("0:-1#"), None),
            (Some("0:-1#5#1"), None),
            (Some("x:-1#5"), None),
            (Some(":5"), None),
            (Some(","), None),
            (Some("0:-1#99999999999999999999"), None),
        ] {
            assert_eq!(parse_tokens(header).ok(), want, "{header:?}");
        }
        assert!(parse_tokens(Some(&"0:1,".repeat(2000))).is_err());
        assert_eq!(
            parse_tokens(Some(&session_token(u64::from(u32::MAX)))).ok(),
            Some(u64::from(u32::MAX))
        );
    }

    #[test]
    fn a_request_may_ask_for_less_consistency() {
        for (level, good) in [
            (None, true),
            (Some(""), true),
            (Some("Session"), true),
            (Some("eventual"), true),
            (Some("ConsistentPrefix"), true),
            (Some("Strong"), false),
            (Some("boundedstaleness"), false),
            (Some("nonsense"), false),
        ] {
            assert_eq!(check_level(level).is_ok(), good, "{level:?}");
        }
    }

    #[test]
    fn the_future_cannot_be_read() {
        assert!(check_seen(5, 5).is_ok());
        assert_eq!(check_seen(6, 5).unwrap_err().fault.sub_status(), 1002);
    }
}
