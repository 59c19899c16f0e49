//! Etags: the commit of a resource's last change, in Azure Cosmos DB's format. The mapping is
//! bijective, so that the etag in a condition can be converted back to a commit.
//!
//! ```text
//! commit 0x0102030405060708   "05060708-0000-0000-0000-040302010000"
//! ```
//!
//! The low half of the commit number is at the start, because only this half usually differs
//! between two versions: people see at once that two etags differ.

/// Length of an etag without its quotes: that of a UUID, the format of Azure Cosmos DB's etags.
pub(crate) const LEN: usize = 36;

/// Returns the text of a commit's etag, without quotes. The text is an array and not a `String`,
/// which saves an allocation for each item read.
pub(crate) fn etag_bytes(stamp: u64) -> [u8; LEN] {
    let mut out = *b"00000000-0000-0000-0000-000000000000";
    let digits =
        (stamp as u32).to_be_bytes().into_iter().chain(((stamp >> 32) as u32).to_le_bytes());
    let places = [0, 2, 4, 6, 24, 26, 28, 30];
    for (byte, place) in digits.zip(places) {
        for (digit, at) in [byte >> 4, byte & 15].into_iter().zip(place..) {
            if let Some(to) = out.get_mut(at) {
                *to = char::from_digit(u32::from(digit), 16).map_or(b'0', |digit| digit as u8);
            }
        }
    }
    out
}

/// Returns the etag in quotes, as in headers and `_etag`.
pub(crate) fn quoted_etag(stamp: u64) -> String {
    let mut out = String::with_capacity(LEN + 2);
    out.push('"');
    out.extend(etag_bytes(stamp).map(char::from));
    out.push('"');
    out
}

/// Returns the commit that an etag denotes, with or without quotes; `None` if the text is not an
/// etag of this server. No version of a resource matches such a text.
pub(crate) fn parse_etag(etag: &str) -> Option<u64> {
    let etag = etag.trim().trim_matches('"');
    let group = |range| u32::from_str_radix(etag.get(range)?, 16).ok();
    let (low, high) = (group(0..8)?, group(24..32)?);
    let stamp = u64::from(high.swap_bytes()) << 32 | u64::from(low);
    (etag.as_bytes() == etag_bytes(stamp)).then_some(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etags_come_back() {
        assert_eq!(quoted_etag(0x1234_5678), "\"12345678-0000-0000-0000-000000000000\"");
        assert_eq!(quoted_etag(0x0102_0304_0506_0708), "\"05060708-0000-0000-0000-040302010000\"");
        for stamp in [0, 1, 0xffff_ffff, 1 << 32, 1 << 63, u64::MAX] {
            let etag = quoted_etag(stamp);
            assert_eq!(etag.len(), LEN + 2);
            assert_eq!(parse_etag(&etag), Some(stamp));
            assert_eq!(parse_etag(etag.trim_matches('"')), Some(stamp));
        }
    }

    #[test]
    fn other_texts_name_no_commit() {
        for text in [
            "",
            "*",
            "x",
            "12345678-0000-0000-0000-0000000000001",
            "12345678-0000-0000-0000-000000000001",
            "12345678-0000-0001-0000-000000000000",
            "ABCDEF00-0000-0000-0000-000000000000",
            "+2345678-0000-0000-0000-000000000000",
            "日本日本日本日本日本日本",
        ] {
            assert_eq!(parse_etag(text), None, "{text}");
        }
    }
}
