//! The property `ttl` of an item, which is validated only if the container has TTL enabled.
//!
//! | container's `defaultTtl` | item's `ttl` | |
//! |---|---|---|
//! | absent | anything | stored without effect |
//! | -1 or seconds | absent | the container's default |
//! | -1 or seconds | -1 | never expires |
//! | -1 or seconds | 1..2147483647 | expires after that many seconds |
//! | -1 or seconds | anything else | refused |

use document::{DocRef, ValueRef, json};
use engine::{DefaultTtl, Error, ItemWriter, Kind, Lifetime};

/// Returns the lifetime that an item's `ttl` requests, given the container's default. An invalid
/// value is refused if TTL is enabled. The engine calls this during the write, because the default
/// may have changed since the request arrived.
pub(crate) fn item_lifetime(default: DefaultTtl, item: DocRef<'_>) -> Result<Lifetime, Error> {
    let ttl = item.get("ttl");
    let lifetime = Lifetime::from_ttl(ttl);
    match (default, ttl, lifetime) {
        (DefaultTtl::Infinite | DefaultTtl::Seconds(_), Some(value), Lifetime::Inherit) => {
            Err(invalid_ttl(value))
        }
        _ => Ok(lifetime),
    }
}

/// Returns the failure for an invalid `ttl`, with the value as the client wrote it.
fn invalid_ttl(value: ValueRef<'_>) -> Error {
    let shown = match value {
        ValueRef::String(text) => text.to_owned(),
        other => json::to_string(other),
    };
    Error::new(
        Kind::Invalid,
        format!(
            "The input ttl '{shown}' is invalid. Ensure to provide a nonzero positive integer less \
             than or equal to '2147483647', or '-1' which means never expire."
        ),
    )
}

/// Validates the `ttl` of each item of a write by the rules of this module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TtlRules;

impl ItemWriter for TtlRules {
    fn lifetime_of(&self, default: DefaultTtl, item: DocRef<'_>) -> Result<Lifetime, Error> {
        item_lifetime(default, item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_an_items_ttl() {
        for (text, want) in [
            ("5", Ok(Lifetime::After(5))),
            ("-1", Ok(Lifetime::Never)),
            ("2147483647", Ok(Lifetime::After(2_147_483_647))),
            ("20.0", Ok(Lifetime::After(20))),
            ("0", Err("0")),
            ("null", Err("null")),
            ("-10", Err("-10")),
            ("2147483648", Err("2147483648")),
            ("\"5\"", Err("5")),
            ("5.5", Err("5.5")),
            ("true", Err("true")),
            ("{}", Err("{}")),
        ] {
            let item = format!(r#"{{"ttl":{text}}}"#);
            let item = json::parse_document(item.as_bytes(), 3).unwrap();
            let item = DocRef::Tree(&item);
            for default in [DefaultTtl::Infinite, DefaultTtl::Seconds(9)] {
                let found = item_lifetime(default, item).map_err(|error| error.message);
                let want = want.map_err(|shown| {
                    format!(
                        "The input ttl '{shown}' is invalid. Ensure to provide a nonzero positive \
                         integer less than or equal to '2147483647', or '-1' which means never \
                         expire."
                    )
                });
                assert_eq!(found, want, "{text}");
            }
            assert!(item_lifetime(DefaultTtl::Off, item).is_ok(), "{text} where TTL is off");
        }
        let other = json::parse_document(br#"{"Ttl":0,"a":{"ttl":0}}"#, 3).unwrap();
        let found = item_lifetime(DefaultTtl::Infinite, DocRef::Tree(&other));
        assert_eq!(found, Ok(Lifetime::Inherit));
    }
}
