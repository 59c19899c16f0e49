//! Instants written by a pattern of letters that stand for their parts. Names are English; a `\`
//! or quotes take letters as they are.

use std::{iter::Peekable, str::Chars};

use evaluation::{Size, calendar};

use super::text::Parts;

const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Decimal places that a second has.
const PLACES: usize = 7;
/// Longest text that one letter makes.
const LONGEST: usize = 9;

/// How large the text of a pattern may become.
pub(super) fn largest(pattern: &str) -> Size {
    Size::of_text(pattern.len().saturating_mul(LONGEST))
}

/// The text of an instant; none where the pattern is not complete.
pub(super) fn format(ticks: i64, pattern: &str) -> Option<String> {
    let at = Parts::of(ticks);
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        let known = match letter {
            '\\' => rest.next().map(|literal| out.push(literal)),
            '\'' | '"' => quoted(letter, &mut rest, &mut out),
            '%' => Some(()),
            letter => {
                let mut count = 1;
                while is_specifier(letter) && rest.next_if_eq(&letter).is_some() {
                    count += 1;
                }
                part(&at, letter, count, &mut out)
            }
        };
        known?;
    }
    Some(out)
}

fn is_specifier(letter: char) -> bool {
    "yMdHhmsfFtKz".contains(letter)
}

/// Everything up to the same quote.
fn quoted(quote: char, rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '\\' => out.push(rest.next()?),
            end if end == quote => return Some(()),
            literal => out.push(literal),
        }
    }
}

/// What a letter that stands there so many times in a row becomes.
fn part(at: &Parts, letter: char, count: usize, out: &mut String) -> Option<()> {
    match letter {
        'y' if count <= 2 => number(at.year % 100, count, out),
        'y' => number(at.year, count.min(PLACES), out),
        'M' if count <= 2 => number(at.month, count, out),
        'M' => name(&calendar::MONTHS, at.month - 1, count, out)?,
        'd' if count <= 2 => number(at.day, count, out),
        'd' => name(&DAYS, weekday(at)?, count, out)?,
        'H' => number(at.hour, count.min(2), out),
        'h' => number((at.hour + 11) % 12 + 1, count.min(2), out),
        'm' => number(at.minute, count.min(2), out),
        's' => number(at.second, count.min(2), out),
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

/// Monday is 0.
fn weekday(at: &Parts) -> Option<i64> {
    calendar::days_of_date(at.year, at.month, at.day).map(|days| calendar::iso_weekday(days) - 1)
}

fn number(value: i64, width: usize, out: &mut String) {
    out.push_str(&format!("{value:0width$}"));
}

/// A name, cut to three letters when it is asked for with three.
fn name(names: &[&str], at: i64, count: usize, out: &mut String) -> Option<()> {
    let name = names.get(usize::try_from(at).ok()?)?;
    out.push_str(if count == 3 { name.get(..3)? } else { name });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{super::parse, *};

    #[test]
    fn letters_become_parts() {
        let ticks = parse("2024-10-04T14:05:09.1200000").unwrap();
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
            assert_eq!(format(ticks, pattern).as_deref(), Some(want), "{pattern}");
        }
        for pattern in ["yyyy\\", "'abc", "\"", "'a\\", "ffffffff", "FFFFFFFFF"] {
            assert_eq!(format(ticks, pattern), None, "{pattern}");
        }
        let midnight = parse("2024-01-01").unwrap();
        assert_eq!(format(midnight, "h tt F.").as_deref(), Some("12 AM ."));
        assert!(72 << 20 < largest(&"y".repeat(8 << 20)).bytes);
    }
}
