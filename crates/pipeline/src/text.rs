//! Numbers and dates as text, as in MongoDB's conversions and messages.

use evaluation::{Error, calendar};

use crate::invalid_request;

/// Formats a double with at most `digits` significant digits, like C's `%g`, without trailing
/// zeros. With 17 it is the shortest text that parses to the same number. Scientific notation is
/// used for exponents below -4 or not less than `digits`.
pub(crate) fn double_text(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let text = if digits >= 17 {
        format!("{value:e}")
    } else {
        format!("{value:.*e}", digits.saturating_sub(1))
    };
    lay_out(&text, i32::try_from(digits).unwrap_or(17))
}

/// Formats a double with all digits needed to parse the same number, like MongoDB 8's conversion to
/// text. Scientific notation is used for exponents below -4 or above 15.
pub(crate) fn whole_double_text(value: f64) -> String {
    // Infinities and NaN have one text for any number of digits.
    if value.is_finite() { lay_out(&format!("{value:e}"), 16) } else { double_text(value, 17) }
}

/// Formats a number given in scientific notation: with an exponent if the exponent is below -4 or
/// at least `most`, else in decimal notation.
fn lay_out(text: &str, most: i32) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let mut all: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let kept = all.trim_end_matches('0').len().max(1);
    all.truncate(kept);
    if exponent < -4 || exponent >= most {
        let (head, tail) = all.split_at(1);
        let point = if tail.is_empty() { "" } else { "." };
        let mark = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{head}{point}{tail}e{mark}{:02}", exponent.abs());
    }
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("{sign}0.{}{all}", "0".repeat(zeros));
    }
    let whole = usize::try_from(exponent + 1).unwrap_or(1);
    if all.len() <= whole {
        return format!("{sign}{all}{}", "0".repeat(whole - all.len()));
    }
    let (head, tail) = all.split_at(whole);
    format!("{sign}{head}.{tail}")
}

/// Formats a date as `2024-02-29T13:05:07.089Z`. Never fails, since messages need it: years may
/// have more than four digits.
pub(crate) fn iso_text(ms: i64) -> String {
    let at = calendar::DateParts::parts_of(ms);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second, at.millisecond
    )
}

/// Formats a date for users; fails for years without four digits.
pub(crate) fn date_text(ms: i64) -> Result<String, Error> {
    let year = calendar::DateParts::parts_of(ms).year;
    if (0..=9999).contains(&year) {
        return Ok(iso_text(ms));
    }
    let text = "Could not convert date to string: date component was outside the supported range";
    Err(invalid_request(18537, format!("{text} of 0-9999: {year}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_and_dates_read_as_expected() {
        for (value, digits, expected) in [
            (1.0, 17, "1"),
            (1.5, 17, "1.5"),
            (0.1, 17, "0.1"),
            (-0.0001, 17, "-0.0001"),
            (1e-7, 17, "1e-07"),
            (1e21, 17, "1e+21"),
            (1e20, 6, "1e+20"),
            (123_456_789.123, 17, "123456789.123"),
            (123_456_789.123, 6, "1.23457e+08"),
            (100.0, 6, "100"),
            (0.0, 6, "0"),
        ] {
            assert_eq!(double_text(value, digits), expected);
        }
        assert_eq!(iso_text(1_709_211_907_089), "2024-02-29T13:05:07.089Z");
        assert_eq!(iso_text(-1), "1969-12-31T23:59:59.999Z");
    }
}
