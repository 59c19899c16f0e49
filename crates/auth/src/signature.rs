//! Requests signed with a key of the account. The signed text has five lines:
//!
//! ```text
//! get\n docs\n dbs/shop/colls/carts/docs/1\n <x-ms-date>\n <date, or nothing>\n     (all without spaces)
//! ```

use subtle::Choice;

use crate::{
    date,
    denied::Denied,
    header::Authorization,
    keys::{Keys, Right},
};

/// The text that a signature covers.
#[derive(Clone, Copy, Debug)]
pub struct StringToSign<'a> {
    /// The method, in any case.
    pub verb: &'a str,
    /// The kind of resource, lower-case: `docs`.
    pub kind: &'a str,
    /// The forms of the link that a client may have signed: as in the path, decoded, or the
    /// resource id alone in lower case.
    pub links: &'a [&'a str],
    /// The header `x-ms-date` as received.
    pub ms_date: Option<&'a str>,
    /// The header `date` as received.
    pub date: Option<&'a str>,
}

impl StringToSign<'_> {
    /// Checks the signature in the header and returns the right of its key; `now_ms` is the
    /// machine's clock. All forms of the link are compared in constant time with each key. The date
    /// is checked first, since that is cheap and refuses any old request.
    pub fn check(
        &self,
        keys: &Keys,
        authorization: &Authorization<'_>,
        now_ms: i64,
    ) -> Result<Right, Denied> {
        let digest = authorization.decode_digest()?;
        date::check_date(self.ms_date.or(self.date).ok_or(Denied::NoDate)?, now_ms)?;
        let verb = self.verb.to_ascii_lowercase();
        let ms_date = self.ms_date.unwrap_or_default().to_ascii_lowercase();
        let date = self.date.unwrap_or_default().to_ascii_lowercase();
        // If both headers are present, some clients sign `x-ms-date` and an empty date.
        let alone = self.ms_date.is_some() && self.date.is_some();
        for (key, right) in keys.iter() {
            let mut found = Choice::from(0);
            for link in self.links {
                let mut parts =
                    [&verb, "\n", self.kind, "\n", link, "\n", &ms_date, "\n", &date, "\n"];
                found |= key.verifies(&parts.map(str::as_bytes), &digest);
                if alone {
                    parts[8] = "";
                    found |= key.verifies(&parts.map(str::as_bytes), &digest);
                }
            }
            if found.into() {
                return Ok(right);
            }
        }
        Err(Denied::Signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const AT: i64 = 784_111_777_000;

    fn check(
        (verb, kind, link): (&str, &str, &str),
        (ms_date, date): (&str, &str),
        signature: &str,
    ) -> Result<Right, Denied> {
        let given = |text| Some(text).filter(|text: &&str| !text.is_empty());
        let links = ["other", link];
        let (ms_date, date) = (given(ms_date), given(date));
        let signed = StringToSign { verb, kind, links: &links, ms_date, date };
        let header = format!("type=master&ver=1.0&sig={signature}");
        let header = Authorization::parse(&header).unwrap();
        signed.check(&Keys::well_known().unwrap(), &header, AT)
    }

    /// The expected signatures were computed by Python's hmac module with the public emulator key.
    #[test]
    fn signatures_of_a_client() {
        for (what, dates, signature) in [
            (("GET", "", ""), (DATE, ""), "IepoHjMNayXGdAT59N/MX1V3nKOJHtPvsvZvHG+M9g8="),
            (
                ("POST", "docs", "dbs/Db1/colls/C1"),
                (DATE, ""),
                "HHx5Osb4ItHNK7QD37X2ta09ktd41SXGF4KzlkG7gIg=",
            ),
            (
                ("get", "docs", "dbs/Db1/colls/C1/docs/a b"),
                (DATE, ""),
                "rC3wjm5kPOEkqWI97zoy2ePIBfFuv6m2kuz83gykJt4=",
            ),
            (("GET", "offers", "abcd"), (DATE, ""), "EkMM9Eh9l3UbOLJJWSJTWZhti1mw5GtmQKklBTpb+/I="),
            (("GET", "dbs", "dbs/x"), ("", DATE), "32mZ1j6fPnfQXKRq/dnrTPU3A4Zw9xuXkQ+jOspRjGw="),
            (("GET", "dbs", "dbs/x"), (DATE, DATE), "AEqkme0vTJfUukPYywPoHNhA4xSvSnOKs2HDdQF5Rl4="),
        ] {
            assert_eq!(check(what, dates, signature), Ok(Right::Write), "{what:?}");
            let other = (what.0, what.1, "dbs/db1/colls/c1");
            assert_eq!(check(other, dates, signature), Err(Denied::Signature), "{what:?}");
            let other = ("PUT", what.1, what.2);
            assert_eq!(check(other, dates, signature), Err(Denied::Signature), "{what:?}");
        }
        let account = ("GET", "", "");
        let root = "IepoHjMNayXGdAT59N/MX1V3nKOJHtPvsvZvHG+M9g8=";
        assert_eq!(check(account, (DATE, DATE), root), Ok(Right::Write), "the first date alone");
        assert_eq!(check(account, ("", ""), root), Err(Denied::NoDate));
        assert_eq!(check(account, ("now", ""), root), Err(Denied::NoDate));
        assert_eq!(check(account, (DATE, ""), "c2hvcnQ="), Err(Denied::Signature));
        assert_eq!(check(account, (DATE, ""), "%%%"), Err(Denied::Malformed));
    }

    #[test]
    fn each_key_has_its_right() {
        let other = "MDEyMzQ1Njc4OWFiY2RlZg==";
        let header = "type=master&ver=1.0&sig=IepoHjMNayXGdAT59N/MX1V3nKOJHtPvsvZvHG+M9g8=";
        let header = Authorization::parse(header).unwrap();
        let signed =
            StringToSign { verb: "GET", kind: "", links: &[""], ms_date: Some(DATE), date: None };
        for (keys, want) in [
            (
                &[(other, Right::Write), (crate::keys::WELL_KNOWN_KEY, Right::Read)][..],
                Ok(Right::Read),
            ),
            (&[(other, Right::Write)], Err(Denied::Signature)),
            (&[], Err(Denied::Signature)),
        ] {
            assert_eq!(signed.check(&Keys::new(keys).unwrap(), &header, AT), want);
        }
    }
}
