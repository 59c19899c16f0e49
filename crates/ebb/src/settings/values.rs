//! Parsers of single settings. Errors are sentence fragments: the caller prefixes value and
//! setting.

use std::{io::IsTerminal, ops::RangeInclusive, path::PathBuf, time::Duration};

use server::{Banner, ClockMode, LEAST_MEMORY, LogFormat, MongoTopology, OldViewsBound};

/// Address of a listener, `host:port`; `None` for `off`. The port is checked when the value is
/// parsed, the host when the address is bound.
#[derive(Clone, Debug)]
pub(super) struct Address(pub(super) Option<String>);

/// A value that is absent if the text is empty. Many environment files can set a variable to an
/// empty text but cannot unset it.
#[derive(Clone, Debug)]
pub(super) struct Optional<T>(pub(super) Option<T>);

/// Returns a parser that accepts an empty text and passes any other to `parse`.
pub(super) fn optional<T>(
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<Optional<T>, String> + Clone {
    move |text| match text.trim() {
        "" => Ok(Optional(None)),
        text => parse(text).map(|value| Optional(Some(value))),
    }
}

/// Parses a switch, with the words common in environment files.
pub(super) fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err("it is neither true nor false".to_owned()),
    }
}

/// Parses a path, which may be any text and need not exist.
pub(super) fn parse_path(text: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from(text))
}

/// Parses a name, which may be any text.
pub(super) fn parse_text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Parses `HOST:PORT` or `off`. A port without a host means the loopback address.
pub(super) fn parse_address(text: &str) -> Result<Address, String> {
    if text == "off" {
        return Ok(Address(None));
    }
    if let Ok(port) = text.parse::<u16>() {
        return Ok(Address(Some(format!("127.0.0.1:{port}"))));
    }
    let port = text.rsplit_once(':').map_or(text, |(_, port)| port);
    match port.parse::<u16>() {
        Ok(_) if port.len() < text.len() => Ok(Address(Some(text.to_owned()))),
        Err(_) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => {
            Err(format!("invalid port {port}: the largest is 65535"))
        }
        _ => Err("it is not HOST:PORT or 'off'".to_owned()),
    }
}

/// Parses a host name without a port. An empty text is accepted, because a list may end with a
/// comma.
pub(super) fn parse_host(text: &str) -> Result<String, String> {
    match text.trim() {
        host if host.contains([':', '/', '*', ' ']) => {
            Err("it is not the name of a host".to_owned())
        }
        host => Ok(host.to_owned()),
    }
}

/// Parses the URL of a server as clients see it: scheme, host and port, without a path. Returns it
/// with a trailing slash.
pub(super) fn parse_endpoint(text: &str) -> Result<String, String> {
    let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let host = host.map(|host| host.strip_suffix('/').unwrap_or(host));
    let is_host = |host: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        !host.is_empty() && host.bytes().all(known)
    };
    match host.is_some_and(is_host) {
        true => Ok(format!("{}/", text.trim_end_matches('/'))),
        false => Err("it is not http(s)://HOST[:PORT]".to_owned()),
    }
}

/// Parses the address of a trace collector, which may have a path.
pub(super) fn parse_collector(text: &str) -> Result<String, String> {
    let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    match host.is_some_and(|host| !host.is_empty() && !host.starts_with('/')) {
        true => Ok(text.to_owned()),
        false => Err("it is not http(s)://HOST[:PORT][/PATH]".to_owned()),
    }
}

/// Parses a number of bytes, with a suffix for powers of 1024.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..).unwrap_or("").to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => u32::MAX,
    };
    let unit = 1_u64.checked_shl(shift);
    let bytes = digits.trim().parse::<u64>().ok().zip(unit);
    let bytes = bytes.and_then(|(count, unit)| count.checked_mul(unit));
    bytes.ok_or_else(|| "it is not a size such as 900m or 2g".to_owned())
}

/// Parses the memory limit of the process; values that are too small are refused.
pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    match usize::try_from(parse_bytes(text)?) {
        Err(_) => Err("it is more than this machine can address".to_owned()),
        Ok(bytes) if bytes < LEAST_MEMORY => {
            Err(format!("it is too small: at least {}m", LEAST_MEMORY >> 20))
        }
        Ok(bytes) => Ok(bytes),
    }
}

/// Parses the maximum size of the change log; values below one mebibyte are refused.
pub(super) fn parse_log_size(text: &str) -> Result<u64, String> {
    match parse_bytes(text)? {
        bytes if bytes < 1 << 20 => Err("it is too small: at least 1m".to_owned()),
        bytes => Ok(bytes),
    }
}

/// Parses the maximum message size of the MongoDB API.
pub(super) fn parse_message(text: &str) -> Result<usize, String> {
    parse_within(text, &server::MESSAGE_BYTES)
}

/// Parses the maximum body size of the NoSQL API.
pub(super) fn parse_body(text: &str) -> Result<usize, String> {
    parse_within(text, &server::BODY_BYTES)
}

fn parse_within(text: &str, sizes: &RangeInclusive<usize>) -> Result<usize, String> {
    let bytes = usize::try_from(parse_bytes(text)?).ok().filter(|bytes| sizes.contains(bytes));
    bytes.ok_or_else(|| format!("it is not between {} and {} bytes", sizes.start(), sizes.end()))
}

/// Parses seconds, which may have a fraction.
pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "it is not a number of seconds".to_owned())
}

/// Parses a count of at least one.
pub(super) fn parse_count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| 0 < *count);
    count.ok_or_else(|| "it is not a number above 0".to_owned())
}

/// Parses whole milliseconds, at least one.
pub(super) fn parse_ms(text: &str) -> Result<Duration, String> {
    let ms = text.parse().ok().filter(|ms| 0 < *ms).map(Duration::from_millis);
    ms.ok_or_else(|| "it is not a number of milliseconds".to_owned())
}

/// Parses whole milliseconds, or `off`.
pub(super) fn parse_slow(text: &str) -> Result<Optional<u64>, String> {
    match text {
        "off" => Ok(Optional(None)),
        text => text
            .parse()
            .map(|ms| Optional(Some(ms)))
            .map_err(|_| "it is neither a number of milliseconds nor 'off'".to_owned()),
    }
}

/// Parses a time span: a number with the unit `s`, `m`, `h` or `d`, by default seconds.
pub(crate) fn parse_span(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text.get(digits.len()..).unwrap_or("") {
        "" | "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3_600.0),
        "d" => Some(86_400.0),
        _ => None,
    };
    let seconds = digits.trim().parse::<f64>().ok().zip(unit).map(|(count, unit)| count * unit);
    let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    span.ok_or_else(|| "it is not a duration such as 90s, 15m, 36h or 30d".to_owned())
}

/// Parses whole days, at least one.
pub(super) fn parse_days(text: &str) -> Result<u32, String> {
    let days = text.parse().ok().filter(|days| 0 < *days);
    days.ok_or_else(|| "it is not a number of days".to_owned())
}

/// Parses a percentage of the disk, from 1% to 100%, or a size.
pub(super) fn parse_old_views(text: &str) -> Result<OldViewsBound, String> {
    let Some(percent) = text.strip_suffix('%') else {
        return parse_bytes(text).map(OldViewsBound::Bytes);
    };
    let percent = percent.parse().ok().filter(|percent| (1..=100).contains(percent));
    let wrong = || "it is not a percentage from 1% to 100%".to_owned();
    percent.map(OldViewsBound::Percent).ok_or_else(wrong)
}

/// Parses the name of a replica set. Connection strings contain it as the value of an option.
pub(super) fn parse_set_name(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match text.bytes().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("it has other characters than letters, digits, '-', '_' and '.'".to_owned()),
    }
}

/// Parses an address that clients connect to: a host, which may not be left out, and a port.
pub(super) fn parse_reached_address(text: &str) -> Result<String, String> {
    let parts = text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
    let is_host = |host: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        !host.is_empty() && !matches!(host, "0.0.0.0" | "[::]") && host.bytes().all(known)
    };
    match parts {
        Some((host, Ok(1..))) if is_host(host) => Ok(text.to_owned()),
        _ => Err("it is not HOST:PORT of one host that clients can connect to".to_owned()),
    }
}

pub(super) fn parse_topology(text: &str) -> Result<MongoTopology, String> {
    match text {
        "router" => Ok(MongoTopology::Router),
        "standalone" => Ok(MongoTopology::Standalone),
        _ => Err("it is not router or standalone".to_owned()),
    }
}

pub(super) fn parse_clock(text: &str) -> Result<ClockMode, String> {
    match text {
        "system" => Ok(ClockMode::System),
        "manual" => Ok(ClockMode::Manual),
        _ => Err("it is not system or manual".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreKind {
    Lsm,
    /// The data is in a Cassandra keyspace that the nodes of a cluster share.
    Cassandra,
}

/// Parses the kind of store.
pub(super) fn parse_store(text: &str) -> Result<StoreKind, String> {
    match text {
        "lsm" => Ok(StoreKind::Lsm),
        "cassandra" => Ok(StoreKind::Cassandra),
        _ => Err("it is not lsm or cassandra".to_owned()),
    }
}

pub(super) fn parse_log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("it is not text or json".to_owned()),
    }
}

/// Returns the startup banner that suits this log format.
pub(super) fn banner_beside(log: Option<LogFormat>) -> Banner {
    match (std::io::stdout().is_terminal(), log) {
        (true, _) => Banner::Terminal,
        // No banner: programs that read JSON log lines may merge standard output and standard
        // error.
        (false, Some(LogFormat::Json)) => Banner::Off,
        (false, _) => Banner::Lines,
    }
}

/// Checks a lower-case log level; the server parses it again.
pub(super) fn parse_log_level(text: &str) -> Result<String, String> {
    match ["error", "warn", "info", "debug", "trace"].contains(&text) {
        true => Ok(text.to_owned()),
        false => Err("it is not a level".to_owned()),
    }
}
