//! Formats instants by a pattern of specifier letters. Names are English; a `\` or quotes make
//! letters literal.

use std::{iter::Peekable, str::Chars};

use evaluation::{Size, calendar};

use super::text::Parts;

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Maximum number of decimal places of a second.
const PLACES: usize = 7;
/// Maximum number of characters that one pattern letter is replaced by.
const LONGEST: usize = 9;

/// Returns the maximum size of the text that a pattern yields, to check memory before formatting.
pub(super) fn largest_text(pattern: &str) -> Size {
    Size::of_text(pattern.len().saturating_mul(LONGEST))
}

/// Formats an instant by a pattern; `None` if a quote or an escape of the pattern is incomplete.
pub(super) fn format_instant(ticks: i64, pattern: &str) -> Option<String> {
    let at = Parts::from_ticks(ticks);
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        let known = match letter {
            '\\' => rest.next().map(|literal| out.push(literal)),
            '\'' | '"' => copy_quoted(letter, &mut rest, &mut out),
            '%' => Some(()),
            letter => {
                let mut count = 1;
                while is_specifier(letter) && rest.next_if_eq(&letter).is_some() {
                    count += 1;
                }
                write_part(&at, letter, count, &mut out)
            }
        };
        known?;
    }
    Some(out)
}

/// Returns whether a letter is a specifier, whose repetitions count.
fn is_specifier(letter: char) -> bool {
    "yMdHhmsfFtKz".contains(letter)
}

/// Copies everything up to the closing quote.
fn copy_quoted(quote: char, rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '\\' => out.push(rest.next()?),
            end if end == quote => return Some(()),
            literal => out.push(literal),
        }
    }
}

/// Appends the part that `count` repetitions of a letter specify. Any other letter is copied.
fn write_part(at: &Parts, letter: char, count: usize, out: &mut String) -> Option<()> {
    match letter {
        'y' if count <= 2 => write_number(at.year % 100, count, out),
        'y' => write_number(at.year, count.min(PLACES), out),
        'M' if count <= 2 => write_number(at.month, count, out),
        'M' => write_name(&calendar::MONTHS, at.month - 1, count, out)?,
        'd' if count <= 2 => write_number(at.day, count, out),
        'd' => write_name(&DAYS, weekday(at)?, count, out)?,
        'H' => write_number(at.hour, count.min(2), out),
        'h' => write_number((at.hour + 11) % 12 + 1, count.min(2), out),
        'm' => write_number(at.minute, count.min(2), out),
        's' => write_number(at.second, count.min(2), out),
        'f' | 'F' => {
            let all = format!("{:07}", at.fraction);
            let places = all.get(..count.min(PLACES + 1))?;
            out.push_str(if letter == 'f' { places } else { places.trim_end_matches('0') });
        }
        't' => {
            let half = if at.hour < 12 { "AM" } else { "PM" };
            out.push_str(half.get(..count.min(2))?);
        }
        'K' => (0..count).for_each(|_| out.push('Z')),
        'z' => out.push_str(match count {
            1 => "+0",
            2 => "+00",
            _ => "+00:00",
        }),
        literal => out.push(literal),
    }
    Some(())
}

/// Returns the day of the week, Monday 0.
fn weekday(at: &Parts) -> Option<i64> {
    calendar::days_of_date(at.year, at.month, at.day).map(|days| calendar::iso_weekday(days) - 1)
}

fn write_number(value: i64, width: usize, out: &mut String) {
    out.push_str(&format!("{value:0width$}"));
}

/// Appends a name, or its first three letters if `count` is 3.
fn write_name(names: &[&str], at: i64, count: usize, out: &mut String) -> Option<()> {
    let name = names.get(usize::try_from(at).ok()?)?;
    out.push_str(if count == 3 { name.get(..3)? } else { name });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{super::parse_iso, *};

    #[test]
    fn letters_become_parts() {
        let ticks = parse_iso("2024-10-04T14:05:09.1200000").unwrap();
        for (pattern, want) in [
            ("yyyyMMdd", "20241004"),
            ("yy-M-d", "24-10-4"),
            ("y yyyyy", "24 02024"),
            ("yyyy-MM-dd [HH:mm:ss]", "2024-10-04 [14:05:09]"),
            ("h:m:s t hh tt", "2:5:9 P 02 PM"),
            ("MMM MMMM ddd dddd", "Oct October Fri Friday"),
            ("f ff fff ffff fffffff", "1 12 120 1200 1200000"),
            ("F FF FFF.FFFFFFF", "1 12 12.12"),
            ("K z zz zzz", "Z +0 +00 +00:00"),
            ("To\\da\\y i\\s: yyyy", "Today is: 2024"),
            ("'day' \"mo\\\"nth\" d", "day mo\"nth 4"),
            ("%d", "4"),
            ("", ""),
            ("é", "é"),
        ] {
            assert_eq!(format_instant(ticks, pattern).as_deref(), Some(want), "{pattern}");
        }
        for pattern in ["yyyy\\", "'abc", "\"", "'a\\", "ffffffff", "FFFFFFFFF"] {
            assert_eq!(format_instant(ticks, pattern), None, "{pattern}");
        }
        let midnight = parse_iso("2024-01-01").unwrap();
        assert_eq!(format_instant(midnight, "h tt F.").as_deref(), Some("12 AM ."));
        assert!(72 << 20 < largest_text(&"y".repeat(8 << 20)).bytes);
    }
}
