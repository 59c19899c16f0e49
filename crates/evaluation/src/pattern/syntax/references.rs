//! Rewrites references back to the text of a group: `\1`, `\g{-1}`, `\k<name>`, `(?P=name)`.

use super::{Form, Rewrite};
use crate::{
    error::Error,
    pattern::{
        groups::group_name,
        mark::Mark,
        text::{invalid, unsupported},
    },
};

/// A reference back to the text that a group matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pattern) struct Reference {
    /// Number of the group, from 1.
    pub(in crate::pattern) group: usize,
    pub(in crate::pattern) ignore_case: bool,
}

/// The group of a reference as written in the pattern. A name may be that of a later group.
#[derive(Debug)]
pub(super) enum Target {
    Number(usize),
    Name(String),
}

impl Rewrite<'_> {
    /// Writes a reference to a group.
    pub(super) fn refer(&mut self, target: Target) -> Result<(), Error> {
        let Form::Marked { targets, .. } = &mut self.form else {
            return Err(unsupported("a backreference"));
        };
        let index = targets.len();
        targets.push((target, self.flags.ignore_case));
        self.write_mark(Mark::Reference(index), "a backreference")?;
        self.text.out.push_str("x)");
        Ok(())
    }

    /// Parses the group of a reference after `\g`, `\k` or the first digit of a number.
    pub(super) fn target(&mut self, sign: char) -> Result<Target, Error> {
        if sign.is_ascii_digit() {
            let digits = format!("{sign}{}", self.text.digits(10, usize::MAX));
            return Ok(Target::Number(digits.parse().unwrap_or(usize::MAX)));
        }
        for (begin, end) in [("{", '}'), ("<", '>'), ("'", '\'')] {
            let is_braced = begin == "{";
            if sign == 'g' && !is_braced || !self.text.take(begin) {
                continue;
            }
            if sign == 'k' || !self.is_at_number() {
                return Ok(Target::Name(group_name(&mut self.text, end)?));
            }
            let target = self.numbered_target()?;
            return match self.text.take("}") {
                true => Ok(target),
                false => Err(not_followed()),
            };
        }
        match sign {
            'g' if self.is_at_number() => self.numbered_target(),
            'g' => Err(not_followed()),
            _ => Err(invalid("\\k is not followed by a braced, angle-bracketed, or quoted name")),
        }
    }

    fn is_at_number(&mut self) -> bool {
        self.text.rest.peek().is_some_and(|c| matches!(c, '0'..='9' | '-' | '+'))
    }

    /// Parses a number of a group; one with a sign counts from here.
    fn numbered_target(&mut self) -> Result<Target, Error> {
        let (back, on) = (self.text.take("-"), self.text.take("+"));
        let digits = self.text.digits(10, usize::MAX);
        let number = digits.parse::<usize>().ok().filter(|number| *number != 0);
        let number = number.ok_or_else(|| match digits.is_empty() {
            true => not_followed(),
            false => invalid("a numbered reference must not be zero"),
        })?;
        Ok(Target::Number(match (back, on) {
            // The group 0 is the whole pattern, to which no reference refers.
            (true, _) => (self.groups + 1).saturating_sub(number),
            (_, true) => self.groups.saturating_add(number),
            _ => number,
        }))
    }

    /// Returns the references back by their numbers. Fails if one refers to no group.
    pub(super) fn references(&self) -> Result<Vec<Reference>, Error> {
        let Form::Marked { targets, .. } = &self.form else { return Ok(Vec::new()) };
        let resolve = |(target, ignore_case): &(Target, bool)| {
            let group = match target {
                Target::Number(number) => Some(*number),
                Target::Name(name) => {
                    self.names.iter().find(|(known, _)| known == name).map(|(_, number)| *number)
                }
            };
            let group = group.filter(|number| (1..=self.groups).contains(number));
            let group = group.ok_or_else(|| invalid("reference to non-existent subpattern"))?;
            Ok(Reference { group, ignore_case: *ignore_case })
        };
        targets.iter().map(resolve).collect()
    }
}

fn not_followed() -> Error {
    invalid(
        "a \\g reference is not followed by a braced, angle-bracketed, or quoted name/number or by \
         a plain number",
    )
}
