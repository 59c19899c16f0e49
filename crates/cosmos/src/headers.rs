//! Typed request headers. Unknown headers are ignored; routes interpret the values. A new header is
//! a line in the table below, which makes it parsed, checked and documented.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    failure::{Failure, Result},
    limits::MAX_PAGE_ITEMS,
};

macro_rules! headers {
    (texts { $($text:ident = $text_name:literal,)* } numbers { $($number:ident = $number_name:literal,)* }
     flags { $($flag:ident = $flag_name:literal,)* }) => {
        /// Names of the headers that are read.
        pub(crate) const READ: &[&str] = &[$($text_name,)* $($number_name,)* $($flag_name,)*];

        /// Identifies a header of a text or number. A header's variant and its accessor share a name.
        #[allow(non_camel_case_types, reason = "the table has one name for the text and its accessor")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Text {
            $($text,)*
            $($number,)*
        }

        /// Identifies a boolean header. A header's variant and its accessor share a name.
        #[allow(non_camel_case_types, reason = "the table has one name for the flag and its accessor")]
        #[allow(dead_code, reason = "some flags have no token")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Flag {
            $($flag,)*
        }

        /// The headers of a request. The values are moved out of the request's head, not copied.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Headers {
            /// The headers of texts and numbers that are present. A request has about ten, so a
            /// linear search is fast.
            texts: Vec<(Text, Given)>,
            $($flag: Option<bool>,)*
        }

        #[allow(dead_code, reason = "some headers are validated but have no effect")]
        impl Headers {
            $(#[doc = concat!("The header `", $text_name, "`.")]
            pub(crate) fn $text(&self) -> Option<&str> {
                self.find_text(Text::$text)
            })*
            $(#[doc = concat!("The header `", $number_name, "`.")]
            pub(crate) fn $number(&self) -> Option<Number<'_>> {
                self.find_number(Text::$number)
            })*
            $(#[doc = concat!("Whether the header `", $flag_name, "` is true.")]
            pub(crate) fn $flag(&self) -> bool {
                self.$flag == Some(true)
            })*

            /// Stores one header; unknown ones are ignored.
            fn keep(&mut self, name: &str, value: HeaderValue) -> Result<()> {
                match name {
                    $($text_name => self.keep_text(Text::$text, name, value),)*
                    $($number_name => self.keep_text(Text::$number, name, value),)*
                    $($flag_name => keep_flag(&mut self.$flag, name, &value),)*
                    _ => Ok(()),
                }
            }

            /// Sets a boolean header, for a transport that has no text for it.
            pub(crate) fn set_flag(&mut self, flag: Flag, on: bool) {
                match flag {
                    $(Flag::$flag => self.$flag = Some(on),)*
                }
            }
        }
    };
}

/// The value of a header as a transport gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    Text(HeaderValue),
    Number(i64),
}

/// The value of a header of a number: a text in HTTP, a number in direct mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number<'a> {
    Text(&'a str),
    Value(i64),
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Value(number) => number.fmt(f),
        }
    }
}

impl Number<'_> {
    /// Returns the number; `None` if the text is not one.
    pub(crate) fn parse(self) -> Option<i64> {
        match self {
            Self::Text(text) => text.trim().parse().ok(),
            Self::Value(number) => Some(number),
        }
    }
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
        continuation = "x-ms-continuation",
        version = "x-ms-version",
        content_format = "x-ms-documentdb-content-serialization-format",
        indexing_directive = "x-ms-indexing-directive",
        features = "x-ms-cosmos-supported-query-features",
        pre_triggers = "x-ms-documentdb-pre-trigger-include",
        post_triggers = "x-ms-documentdb-post-trigger-include",
        a_im = "a-im",
        wire_format = "x-ms-cosmos-changefeed-wire-format-version",
        throughput = "x-ms-offer-throughput",
        offer_type = "x-ms-offer-type",
        autoscale = "x-ms-cosmos-offer-autopilot-settings",
        cut = "x-ebb-cut",
    }
    numbers {
        max_items = "x-ms-max-item-count",
        continuation_limit = "x-ms-documentdb-responsecontinuationtokenlimitinkb",
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
        exclude_system = "x-ms-exclude-system-properties",
    }
}

/// Returns whether the headers of a request declare its body as a query, for callers that parse no
/// other headers.
pub(crate) fn asks_query(map: &HeaderMap) -> bool {
    let mut about = HeaderMap::new();
    for name in ["x-ms-documentdb-isquery", "content-type"] {
        for value in map.get_all(name) {
            about.append(name, value.clone());
        }
    }
    Headers::read(about).is_ok_and(|headers| headers.has_query())
}

impl Headers {
    /// Parses all headers in one pass. A header that occurs twice must have equal values. Otherwise
    /// a proxy might check one value, and this server use the other.
    pub(crate) fn read(map: HeaderMap) -> Result<Self> {
        let mut found = Self { texts: Vec::with_capacity(USUAL_TEXTS), ..Self::default() };
        let mut current: Option<HeaderName> = None;
        for (name, value) in map {
            // After the first value of a header, the iterator returns further values without the
            // name.
            current = name.or(current);
            if let Some(name) = &current {
                found.keep(name.as_str(), value)?;
            }
        }
        Ok(found)
    }

    /// Returns the value of a text header. With about ten entries a linear search beats hashing.
    fn find_text(&self, wanted: Text) -> Option<&str> {
        match self.find_number(wanted)? {
            Number::Text(text) => Some(text),
            Number::Value(_) => None,
        }
    }

    /// Returns the value of a header that is a text or a number.
    fn find_number(&self, wanted: Text) -> Option<Number<'_>> {
        let (_, value) = self.texts.iter().find(|(text, _)| *text == wanted)?;
        match value {
            // Always valid: the text was checked when it was stored.
            Given::Text(value) => std::str::from_utf8(value.as_bytes()).ok().map(Number::Text),
            Given::Number(number) => Some(Number::Value(*number)),
        }
    }

    /// Sets a header of a text, for a transport that has checked that it is UTF-8 and occurs once.
    pub(crate) fn set_text(&mut self, text: Text, mut value: HeaderValue) {
        value.set_sensitive(text == Text::authorization);
        self.texts.push((text, Given::Text(value)));
    }

    /// Sets a header of a number, for a transport that has checked that it occurs once.
    pub(crate) fn set_number(&mut self, text: Text, number: i64) {
        self.texts.push((text, Given::Number(number)));
    }

    /// Stores a text header, which must be UTF-8. The check is here, so that the same request is
    /// refused whichever operation uses the value.
    fn keep_text(&mut self, text: Text, name: &str, mut value: HeaderValue) -> Result<()> {
        // Hides the value from debug output.
        value.set_sensitive(text == Text::authorization);
        if std::str::from_utf8(value.as_bytes()).is_err() {
            return Err(Failure::bad_request(format!(
                "The value of the header {name} is not UTF-8."
            )));
        }
        match self.texts.iter().find(|(held, _)| *held == text) {
            Some((_, Given::Text(held))) if *held == value => {}
            Some(_) => return Err(given_twice(name)),
            None => self.texts.push((text, Given::Text(value))),
        }
        Ok(())
    }

    /// Returns whether the response to a write may omit the item. SDKs have an option for this
    /// (`EnableContentResponseOnWrite` in .NET), which saves most of the bytes.
    pub(crate) fn prefers_minimal(&self) -> bool {
        self.prefer().is_some_and(|prefer| prefer.eq_ignore_ascii_case("return=minimal"))
    }

    /// Returns whether the body is a query. Clients declare that by a header, by the media type of
    /// the body, or by both.
    pub(crate) fn has_query(&self) -> bool {
        let kind = self.content_type().unwrap_or_default().split(';').next().unwrap_or_default();
        self.is_query() || kind.trim().eq_ignore_ascii_case("application/query+json")
    }

    /// Refuses values that Azure Cosmos DB refuses in every request; empty values are ignored.
    pub(crate) fn check_values(&self) -> Result<()> {
        let refused = |name: &str, given: Option<&str>, is_good: fn(&str) -> bool| match given {
            Some(text) if !text.trim().is_empty() && !is_good(text.trim()) => {
                Err(invalid_value(name, text))
            }
            _ => Ok(()),
        };
        let format = "x-ms-documentdb-content-serialization-format";
        let limit = "x-ms-documentdb-responsecontinuationtokenlimitinkb";
        let directive = "x-ms-indexing-directive";
        refused("x-ms-version", self.version(), is_version)?;
        refused("x-ms-offer-type", self.offer_type(), |text| {
            is_one_of(text, NAMED_OFFERS) || is_one_of(text, &[UNNAMED_OFFER])
        })?;
        refused(format, self.content_format(), |text| is_one_of(text, FORMATS))?;
        refused(directive, self.indexing_directive(), is_indexing_directive)?;
        match self.continuation_limit() {
            None => Ok(()),
            Some(Number::Text(text)) if text.trim().is_empty() => Ok(()),
            Some(number) if matches!(number.parse(), Some(1..)) => Ok(()),
            Some(number) => Err(invalid_value(limit, number)),
        }
    }

    /// Returns whether the client permits that large items in lists are truncated (`x-ebb-cut`).
    pub(crate) fn may_cut(&self) -> Result<bool> {
        match self.cut() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(text) => Err(invalid_value("x-ebb-cut", text)),
        }
    }

    /// Returns the requested page size; -1 requests the maximum.
    pub(crate) fn page_items(&self) -> Result<Option<usize>> {
        let Some(number) = self.max_items() else { return Ok(None) };
        match number.parse() {
            Some(-1) => Ok(Some(MAX_PAGE_ITEMS)),
            Some(count @ 1..) => {
                Ok(Some(usize::try_from(count).unwrap_or(MAX_PAGE_ITEMS).min(MAX_PAGE_ITEMS)))
            }
            _ => Err(invalid_value("x-ms-max-item-count", number)),
        }
    }
}

/// Accepted values of the header `x-ms-documentdb-content-serialization-format`.
const FORMATS: &[&str] = &["JsonText", "CosmosBinary", "HybridRow"];

/// Values of `x-ms-offer-type` that denote a performance level (S1 to S3), used before throughput
/// was specified in request units.
pub(crate) const NAMED_OFFERS: &[&str] = &["S1", "S2", "S3"];

/// Value of `x-ms-offer-type` for offers whose throughput is specified in request units.
pub(crate) const UNNAMED_OFFER: &str = "Invalid";

/// Values of `x-ms-indexing-directive`; none has an effect.
const DIRECTIVES: &[&str] = &["Default", "Include", "Exclude"];

/// The published versions of the protocol before [`ALL_SINCE`].
const VERSIONS: &[&str] = &[
    "2014-08-21",
    "2015-04-08",
    "2015-06-03",
    "2015-08-06",
    "2015-12-16",
    "2016-05-30",
    "2016-07-11",
    "2016-11-14",
    "2017-01-19",
    "2017-02-22",
    "2017-05-03",
    "2017-11-15",
    "2018-06-18",
    "2018-08-31",
];

/// Any date from this one on is accepted as a version, since an SDK may be newer than this server.
const ALL_SINCE: &str = "2018-09-17";

/// Returns whether a text is a value of `x-ms-indexing-directive`; operations of batches have such
/// values, too.
pub(crate) fn is_indexing_directive(text: &str) -> bool {
    is_one_of(text, DIRECTIVES)
}

fn is_one_of(text: &str, all: &[&str]) -> bool {
    all.iter().any(|each| each.eq_ignore_ascii_case(text))
}

/// Returns whether a text is an accepted protocol version: a listed one, or a date from `ALL_SINCE`
/// on.
fn is_version(text: &str) -> bool {
    let is_date = text.len() == ALL_SINCE.len()
        && text.bytes().zip(ALL_SINCE.bytes()).all(|(given, form)| match form {
            b'-' => given == b'-',
            _ => given.is_ascii_digit(),
        });
    is_date && (ALL_SINCE <= text || VERSIONS.contains(&text))
}

/// Initial capacity for text headers, as many as official SDKs send; more need another allocation.
const USUAL_TEXTS: usize = 12;

/// Stores a boolean header; any value other than true is false.
fn keep_flag(flag: &mut Option<bool>, name: &str, value: &HeaderValue) -> Result<()> {
    let given = is_true(value.as_bytes());
    match flag.replace(given) {
        Some(before) if before != given => Err(given_twice(name)),
        _ => Ok(()),
    }
}

/// Returns the failure for a header with a value that it cannot have.
fn invalid_value(name: &str, value: impl fmt::Display) -> Failure {
    Failure::bad_request(format!("Invalid value '{value}' specified for header {name}."))
}

/// Returns the failure for a header that occurs twice with different values.
fn given_twice(name: &str) -> Failure {
    Failure::bad_request(format!("The header {name} is given twice with different values."))
}

/// Parses a boolean, which SDKs write in the case of their language: `True` in Python and .NET.
fn is_true(value: &[u8]) -> bool {
    value.trim_ascii().eq_ignore_ascii_case(b"true")
}

#[cfg(test)]
mod tests {
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
        let headers = Headers::read(map).unwrap();
        assert_eq!(
            (headers.is_query(), headers.atomic(), headers.is_upsert()),
            (true, true, false)
        );
        assert_eq!(headers.partition_key(), Some("[\"é\"]"));
        assert_eq!(headers.session(), None);
        let broken = self::map(&[("x-ms-session-token", b"\xff")]);
        assert!(Headers::read(broken).unwrap_err().text.contains("x-ms-session-token"));
    }

    #[test]
    fn what_a_request_is_signed_with_is_not_printed() {
        let map = map(&[("authorization", b"type=aad&sig=planted"), ("date", b"shown")]);
        let headers = Headers::read(map).unwrap();
        assert_eq!(headers.authorization(), Some("type=aad&sig=planted"));
        let text = format!("{headers:?}");
        assert!(text.contains("shown") && !text.contains("planted"), "{text}");
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
            assert_eq!(Headers::read(map).is_ok(), good, "{name} {one} {other}");
        }
    }

    #[test]
    fn values_that_no_header_has_are_refused() {
        for (name, text, good) in [
            ("x-ms-version", "2015-01-01", false),
            ("x-ms-version", "2014-08-21", true),
            ("x-ms-version", "2018-12-31", true),
            ("x-ms-version", "2020-07-15", true),
            ("x-ms-version", "2031-01-01", true),
            ("x-ms-version", "20200715", false),
            ("x-ms-version", "2020-07-15x", false),
            ("x-ms-version", "", true),
            ("x-ms-documentdb-content-serialization-format", "JsonText", true),
            ("x-ms-documentdb-content-serialization-format", "cosmosbinary", true),
            ("x-ms-documentdb-content-serialization-format", "Not a valid value", false),
            ("x-ms-offer-type", "S2", true),
            ("x-ms-offer-type", "S4", false),
            ("x-ms-indexing-directive", "Exclude", true),
            ("x-ms-indexing-directive", "\"Invalid Value\"", false),
            ("x-ms-documentdb-responsecontinuationtokenlimitinkb", "1", true),
            ("x-ms-documentdb-responsecontinuationtokenlimitinkb", "0", false),
            ("x-ms-documentdb-responsecontinuationtokenlimitinkb", "x", false),
        ] {
            let headers = Headers::read(map(&[(name, text.as_bytes())])).unwrap();
            let found = headers.check_values().map_err(|failure| failure.fault.status());
            assert_eq!(found, if good { Ok(()) } else { Err(400) }, "{name}: {text}");
        }
    }

    #[test]
    fn values_of_the_header_for_cut_items() {
        for (text, want) in [
            (None, Ok(false)),
            (Some("true"), Ok(true)),
            (Some("false"), Ok(false)),
            (Some(""), Err(400)),
            (Some("True"), Err(400)),
            (Some("16384"), Err(400)),
        ] {
            let pair = text.map(|text: &str| ("x-ebb-cut", text.as_bytes()));
            let headers = Headers::read(map(pair.as_slice())).unwrap();
            let found = headers.may_cut().map_err(|failure| failure.fault.status());
            assert_eq!(found, want, "{text:?}");
        }
    }

    #[test]
    fn queries_and_pages() {
        for (kind, want) in [
            ("application/query+json", true),
            ("Application/Query+JSON; charset=utf-8", true),
            ("application/json", false),
        ] {
            let headers = Headers::read(map(&[("content-type", kind.as_bytes())])).unwrap();
            assert_eq!(headers.has_query(), want, "{kind}");
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
            let pair = text.map(|text: &str| ("x-ms-max-item-count", text.as_bytes()));
            let headers = Headers::read(map(pair.as_slice())).unwrap();
            let found = headers.page_items().map_err(|failure| failure.fault.status());
            assert_eq!(found, want, "{text:?}");
        }
    }
}
