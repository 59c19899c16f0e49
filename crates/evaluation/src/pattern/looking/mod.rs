//! Patterns with look-ahead anywhere in them, matched without going back.
//!
//! Each look-ahead is a pattern of its own, and what is left of the whole names the places where
//! they stood. A pattern is walked backward over a text once: from the end of the text to its
//! beginning that tells at which positions it may begin. So the answers of the innermost
//! look-aheads are known before those around them need them, and the whole takes time in
//! proportion to its size times that of the text, and one bit for each look-ahead and position.
//! Where a match ends, and what its groups hold, is found by a walk forward from where it begins.

mod backward;
mod forward;
mod machine;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use backward::Positions;
use machine::Machine;

use super::{groups::Flags, program, syntax::Ahead};
use crate::{
    error::{Error, Kind},
    numbers::{LIMIT_EXCEEDED, PATTERN_REFUSED},
};

pub(super) use forward::Spans;

/// Look-aheads of one pattern.
const MAX_AHEADS: usize = 64;
/// Steps of one walk over one text: a second or two.
const MAX_STEPS: u64 = 1 << 29;
/// Steps after which work is counted.
const COUNTED: usize = 1 << 16;
/// Bytes that would be copied in the time of a step.
const STEP_WORK: usize = 4;

/// Counts work, and fails where there was too much of it or nobody wants it any more.
pub(super) type Count<'a> = &'a dyn Fn(usize) -> Result<(), Error>;

/// A compiled pattern with look-ahead.
#[derive(Clone, Debug)]
pub(super) struct Looking {
    /// The look-aheads; each knows only those before it.
    aheads: Vec<Machine>,
    main: Machine,
    /// The numbers of the groups that are the pattern's own, the whole match first.
    groups: Vec<usize>,
    groups_ahead: bool,
}

/// What is known of a text before a match is looked for.
#[derive(Debug)]
pub(super) struct KnownPositions {
    aheads: Vec<Positions>,
    begins: Positions,
}

/// Work that is counted in large pieces.
struct Steps<'a> {
    count: Count<'a>,
    done: Cell<usize>,
}

impl Steps<'_> {
    fn add(&self, steps: usize) -> Result<(), Error> {
        let done = self.done.get() + steps;
        if done < COUNTED {
            self.done.set(done);
            return Ok(());
        }
        self.done.set(0);
        (self.count)(done.saturating_mul(STEP_WORK))
    }
}

impl Looking {
    /// Compiles a rewritten pattern and the look-aheads that it names.
    pub(super) fn new(main: &str, aheads: &[Ahead], flags: Flags) -> Result<(Self, usize), Error> {
        if MAX_AHEADS < aheads.len() {
            let text = "Regular expression is not supported: it has too many look-aheads";
            return Err(Error::new(Kind::Unsupported, PATTERN_REFUSED, text));
        }
        let wanted: Vec<bool> = aheads.iter().map(|ahead| ahead.wanted).collect();
        let parts = aheads.iter().map(|ahead| Machine::new(&ahead.pattern, flags, &wanted));
        let aheads = parts.collect::<Result<Vec<Machine>, Error>>()?;
        let main = Machine::new(main, flags, &wanted)?;
        let groups = main.own_groups();
        let groups_ahead = aheads.iter().any(|ahead| 1 < ahead.own_groups().len());
        let bytes = aheads.iter().chain([&main]).map(Machine::bytes).sum();
        Ok((Self { aheads, main, groups, groups_ahead }, bytes))
    }

    /// Whether look-aheads have groups of their own.
    pub(super) fn has_groups_ahead(&self) -> bool {
        self.groups_ahead
    }

    /// Looks at a text.
    pub(super) fn know(&self, text: &str, count: Count<'_>) -> Result<KnownPositions, Error> {
        let states: u64 = self.aheads.iter().chain([&self.main]).map(|it| it.len() as u64).sum();
        if MAX_STEPS < states.saturating_mul(text.len() as u64 + 1) {
            let text = "a regular expression with look-ahead takes more steps than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        let steps = Steps { count, done: Cell::new(COUNTED) };
        let mut known = Vec::with_capacity(self.aheads.len());
        for ahead in &self.aheads {
            let begins = backward::begins(ahead, text, &known, &steps)?;
            known.push(begins);
        }
        let begins = backward::begins(&self.main, text, &known, &steps)?;
        Ok(KnownPositions { aheads: known, begins })
    }

    /// Whether a text has a match.
    pub(super) fn is_match(&self, text: &str, count: Count<'_>) -> Result<bool, Error> {
        Ok(self.know(text, count)?.begins.first(text, 0).is_some())
    }

    /// The first match from a position on: the spans of the whole and of the groups.
    pub(super) fn find_at(
        &self,
        text: &str,
        known: &KnownPositions,
        from: usize,
        count: Count<'_>,
    ) -> Result<Option<Spans>, Error> {
        let Some(begin) = known.begins.first(text, from) else { return Ok(None) };
        let steps = Steps { count, done: Cell::new(COUNTED) };
        let slots = forward::run(&self.main, text, &known.aheads, begin, &steps)?;
        Ok(slots.map(|slots| {
            let span = |group: &usize| {
                Some((*slots.get(2 * group)?.as_ref()?, *slots.get(2 * group + 1)?.as_ref()?))
            };
            self.groups.iter().map(span).collect()
        }))
    }

    /// Whether finding matches, and not only whether there are any, takes a fitting amount of memory.
    pub(super) fn may_find(&self) -> Result<(), Error> {
        forward::fits(&self.main)
    }
}

/// Takes what compiled machines hold.
pub(super) fn hold(bytes: usize) -> Result<memory::Share, Error> {
    program::take_bytes(bytes)
}
