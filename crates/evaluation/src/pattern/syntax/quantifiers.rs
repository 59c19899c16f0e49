//! Rewrites quantifiers: `*`, `+`, `?` and counts in braces, which may be lazy or possessive.

use super::{Item, Rewrite};
use crate::{
    error::Error,
    pattern::{mark::Mark, text::invalid},
};

impl Rewrite<'_> {
    /// Writes a quantifier of the element `item`. A `?` after it makes it lazy. A `+` makes it
    /// possessive, which is written as an atomic group around element and quantifier.
    pub(super) fn repeat(&mut self, item: Item, sign: &str) -> Result<(), Error> {
        if !item.repeatable {
            return Err(invalid("quantifier does not follow a repeatable item"));
        }
        self.text.out.push_str(sign);
        self.item.repeatable = false;
        if self.text.take("+") {
            let repeated = self.text.out.split_off(item.start);
            self.write_mark(Mark::Atomic, "a possessive quantifier")?;
            self.text.out.push_str(&repeated);
            self.text.out.push(')');
        } else if self.text.take("?") {
            self.text.out.push('?');
        }
        Ok(())
    }

    /// Parses a repetition count from after its brace; returns `None` if the brace is literal.
    pub(super) fn count(&mut self) -> Result<Option<String>, Error> {
        let before = self.text.rest.clone();
        // Reads all digits: a number that is too long is an error and not literal text.
        let low = self.text.digits(10, usize::MAX);
        let comma = self.text.take(",");
        let high = if comma { self.text.digits(10, usize::MAX) } else { String::new() };
        if low.is_empty() || !self.text.take("}") {
            self.text.rest = before;
            return Ok(None);
        }
        let number = |digits: &str| match digits.parse::<u16>() {
            Ok(number) => Ok(number),
            Err(_) => Err(invalid("number too big in {} quantifier")),
        };
        let low = number(&low)?;
        Ok(Some(match (comma, high.as_str()) {
            (false, _) => format!("{{{low}}}"),
            (true, "") => format!("{{{low},}}"),
            (true, high) => {
                let high = number(high)?;
                if high < low {
                    return Err(invalid("numbers out of order in {} quantifier"));
                }
                format!("{{{low},{high}}}")
            }
        }))
    }
}
