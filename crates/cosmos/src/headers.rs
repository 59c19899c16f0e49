//! Headers of requests, typed once. Unknown ones are let pass; what they mean is up to routes.

use http::HeaderMap;

use crate::{
    failure::{Failure, Result},
    limits::MAX_PAGE_ITEMS,
};

macro_rules! headers {
    (texts { $($text:ident = $text_name:literal,)* } flags { $($flag:ident = $flag_name:literal,)* }) => {
        /// The headers that are read.
        pub(crate) const READ: &[&str] = &[$($text_name,)* $($flag_name,)*];

        /// What a request's headers say.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Headers<'a> {
            $(pub(crate) $text: Option<&'a str>,)*
            $(pub(crate) $flag: bool,)*
        }

        impl<'a> Headers<'a> {
            /// Reads them in one pass. One that comes twice has to say the same twice: who stands in
            /// between may have looked at the other one.
            pub(crate) fn read(map: &'a HeaderMap) -> Result<Self> {
                let mut found = Self::default();
                for (name, value) in map {
                    match name.as_str() {
                        $($text_name => {
                            let text = text(name.as_str(), value)?;
                            if found.$text.replace(text).is_some_and(|before| before != text) {
                                return Err(twice(name.as_str()));
                            }
                        })*
                        $($flag_name => {
                            found.$flag = is_true(value.as_bytes());
                            let all = map.get_all(name);
                            if all.iter().any(|other| is_true(other.as_bytes()) != found.$flag) {
                                return Err(twice(name.as_str()));
                            }
                        })*
                        _ => {}
                    }
                }
                Ok(found)
            }
        }
    };
}

headers! {
    texts {
        authorization = "authorization",
        ms_date = "x-ms-date",
        date = "date",
        host = "host",
        activity = "x-ms-activity-id",
        content_type = "content-type",
        content_encoding = "content-encoding",
        prefer = "prefer",
        if_match = "if-match",
        if_none_match = "if-none-match",
        if_modified_since = "if-modified-since",
        partition_key = "x-ms-documentdb-partitionkey",
        range_id = "x-ms-documentdb-partitionkeyrangeid",
        start_epk = "x-ms-start-epk",
        end_epk = "x-ms-end-epk",
        intended_container = "x-ms-cosmos-intended-collection-rid",
        session = "x-ms-session-token",
        consistency = "x-ms-consistency-level",
        max_items = "x-ms-max-item-count",
        continuation = "x-ms-continuation",
        continuation_limit = "x-ms-documentdb-responsecontinuationtokenlimitinkb",
        features = "x-ms-cosmos-supported-query-features",
        pre_triggers = "x-ms-documentdb-pre-trigger-include",
        post_triggers = "x-ms-documentdb-post-trigger-include",
        a_im = "a-im",
        wire_format = "x-ms-cosmos-changefeed-wire-format-version",
        throughput = "x-ms-offer-throughput",
        autoscale = "x-ms-cosmos-offer-autopilot-settings",
        expiry_seconds = "x-ms-documentdb-expiry-seconds",
    }
    flags {
        is_query = "x-ms-documentdb-isquery",
        is_plan = "x-ms-cosmos-is-query-plan-request",
        cross_partition = "x-ms-documentdb-query-enablecrosspartition",
        query_metrics = "x-ms-documentdb-populatequerymetrics",
        index_metrics = "x-ms-cosmos-populateindexmetrics",
        index_metrics_v2 = "x-ms-cosmos-populateindexmetrics-v2",
        is_upsert = "x-ms-documentdb-is-upsert",
        is_batch = "x-ms-cosmos-is-batch-request",
        atomic = "x-ms-cosmos-batch-atomic",
        continue_on_error = "x-ms-cosmos-batch-continue-on-error",
        quota_info = "x-ms-documentdb-populatequotainfo",
    }
}

impl Headers<'_> {
    /// Whether the answer to a write may leave out its body.
    pub(crate) fn minimal(&self) -> bool {
        self.prefer.is_some_and(|prefer| prefer.eq_ignore_ascii_case("return=minimal"))
    }

    /// Whether the body is a query.
    pub(crate) fn asks(&self) -> bool {
        let kind = self.content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        self.is_query || kind.trim().eq_ignore_ascii_case("application/query+json")
    }

    /// Items of a page that are asked for; -1 asks for as many as there may be.
    pub(crate) fn page(&self) -> Result<Option<usize>> {
        let Some(text) = self.max_items else { return Ok(None) };
        match text.trim().parse::<i64>() {
            Ok(-1) => Ok(Some(MAX_PAGE_ITEMS)),
            Ok(count @ 1..) => {
                Ok(Some(usize::try_from(count).unwrap_or(MAX_PAGE_ITEMS).min(MAX_PAGE_ITEMS)))
            }
            _ => Err(Failure::bad(format!(
                "Invalid value '{text}' specified for header x-ms-max-item-count."
            ))),
        }
    }
}

fn twice(name: &str) -> Failure {
    Failure::bad(format!("The header {name} is given twice with different values."))
}

fn text<'a>(name: &str, value: &'a http::HeaderValue) -> Result<&'a str> {
    std::str::from_utf8(value.as_bytes())
        .map_err(|_| Failure::bad(format!("The value of the header {name} is not UTF-8.")))
}

fn is_true(value: &[u8]) -> bool {
    value.trim_ascii().eq_ignore_ascii_case(b"true")
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, header::HeaderName};

    use super::*;

    fn map(pairs: &[(&'static str, &[u8])]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &[u8])| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn headers_are_read_without_regard_to_case_of_booleans() {
        let map = map(&[
            ("x-ms-documentdb-isquery", b"True"),
            ("x-ms-cosmos-batch-atomic", b" TRUE "),
            ("x-ms-documentdb-is-upsert", b"no"),
            ("x-ms-documentdb-partitionkey", "[\"é\"]".as_bytes()),
            ("x-ms-unknown", b"\xff"),
        ]);
        let headers = Headers::read(&map).unwrap();
        assert_eq!((headers.is_query, headers.atomic, headers.is_upsert), (true, true, false));
        assert_eq!(headers.partition_key, Some("[\"é\"]"));
        assert_eq!(headers.session, None);
        let broken = self::map(&[("x-ms-session-token", b"\xff")]);
        assert!(Headers::read(&broken).unwrap_err().text.contains("x-ms-session-token"));
    }

    #[test]
    fn a_header_given_twice_says_the_same_twice() {
        for (name, one, other, good) in [
            ("if-match", "a", "a", true),
            ("if-match", "*", "a", false),
            ("authorization", "a", "b", false),
            ("x-ms-documentdb-isquery", "True", "true", true),
            ("x-ms-documentdb-isquery", "true", "false", false),
            ("x-ms-unknown", "a", "b", true),
        ] {
            let mut map = HeaderMap::new();
            for text in [one, other] {
                map.append(HeaderName::from_static(name), HeaderValue::from_static(text));
            }
            assert_eq!(Headers::read(&map).is_ok(), good, "{name} {one} {other}");
        }
    }

    #[test]
    fn queries_and_pages() {
        for (kind, want) in [
            ("application/query+json", true),
            ("Application/Query+JSON; charset=utf-8", true),
            ("application/json", false),
        ] {
            let headers = Headers { content_type: Some(kind), ..Headers::default() };
            assert_eq!(headers.asks(), want, "{kind}");
        }
        for (text, want) in [
            (None, Ok(None)),
            (Some("-1"), Ok(Some(1000))),
            (Some("5000"), Ok(Some(1000))),
            (Some("7"), Ok(Some(7))),
            (Some("0"), Err(400)),
            (Some("-2"), Err(400)),
            (Some("x"), Err(400)),
            (Some("99999999999999999999"), Err(400)),
        ] {
            let headers = Headers { max_items: text, ..Headers::default() };
            let found = headers.page().map_err(|failure| failure.fault.status());
            assert_eq!(found, want, "{text:?}");
        }
    }
}
