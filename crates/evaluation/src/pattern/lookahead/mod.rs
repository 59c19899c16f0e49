//! Patterns with look-ahead anywhere in them, matched without backtracking.
//!
//! Each look-ahead becomes a pattern of its own, and the remaining pattern marks the positions of
//! its look-aheads. One backward scan of a text, from its end to its start, finds the positions at
//! which a pattern may match. Innermost look-aheads are scanned first, so that their positions are
//! known to the patterns around them. The time is proportional to the size of the pattern times
//! that of the text, and the memory is one bit per look-ahead and position. A forward scan from the
//! start of a match finds its end and its groups.

mod backward;
mod forward;
mod machine;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use backward::Positions;
use machine::Machine;

use super::{groups::Flags, syntax::Lookahead};
use crate::error::{
    Error, Kind,
    numbers::{LIMIT_EXCEEDED, PATTERN_REFUSED},
};

pub(super) use forward::Spans;

/// Maximum number of look-aheads of one pattern.
const MAX_LOOKAHEADS: usize = 64;
/// Maximum steps of one scan over one text: a second or two.
const MAX_STEPS: u64 = 1 << 29;
/// Number of matching steps after which the work is reported.
const COUNTED: usize = 1 << 16;
/// Units of work charged for one matching step.
const STEP_WORK: usize = 4;

/// Counts work. Fails if the total exceeds its limit, or if the operation must end.
pub(super) type Count<'a> = &'a dyn Fn(usize) -> Result<(), Error>;

/// A compiled pattern with look-ahead.
#[derive(Clone, Debug)]
pub(super) struct LookaheadPattern {
    /// The look-aheads, in an order in which each refers only to earlier ones.
    lookaheads: Vec<Machine>,
    main: Machine,
    /// Numbers of the groups that the pattern itself contains; the whole match is the first.
    groups: Vec<usize>,
    groups_ahead: bool,
}

/// The positions at which the backward scan of a text found matches.
#[derive(Debug)]
pub(super) struct KnownPositions {
    lookaheads: Vec<Positions>,
    begins: Positions,
}

/// Reports matching steps as work, in large batches.
struct StepCounter<'a> {
    count: Count<'a>,
    done: Cell<usize>,
}

impl StepCounter<'_> {
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

impl LookaheadPattern {
    /// Compiles a rewritten pattern and its look-aheads. Returns their memory in bytes, too.
    pub(super) fn new(
        main: &str,
        lookaheads: &[Lookahead],
        flags: Flags,
    ) -> Result<(Self, usize), Error> {
        if MAX_LOOKAHEADS < lookaheads.len() {
            let text = "Regular expression is not supported: it has too many look-aheads";
            return Err(Error::new(Kind::Unsupported, PATTERN_REFUSED, text));
        }
        let is_positive: Vec<bool> = lookaheads.iter().map(|ahead| ahead.is_positive).collect();
        let parts =
            lookaheads.iter().map(|ahead| Machine::new(&ahead.pattern, flags, &is_positive));
        let lookaheads = parts.collect::<Result<Vec<Machine>, Error>>()?;
        let main = Machine::new(main, flags, &is_positive)?;
        let groups = main.own_groups();
        let groups_ahead = lookaheads.iter().any(|ahead| 1 < ahead.own_groups().len());
        let bytes = lookaheads.iter().chain([&main]).map(Machine::bytes).sum();
        Ok((Self { lookaheads, main, groups, groups_ahead }, bytes))
    }

    /// Returns whether look-aheads contain capture groups.
    pub(super) fn has_groups_ahead(&self) -> bool {
        self.groups_ahead
    }

    /// Scans a text backward and returns the positions at which each look-ahead matches.
    pub(super) fn know(&self, text: &str, count: Count<'_>) -> Result<KnownPositions, Error> {
        let states: u64 =
            self.lookaheads.iter().chain([&self.main]).map(|it| it.len() as u64).sum();
        if MAX_STEPS < states.saturating_mul(text.len() as u64 + 1) {
            let text = "a regular expression with look-ahead takes more steps than allowed";
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        let steps = StepCounter { count, done: Cell::new(COUNTED) };
        let mut known = Vec::with_capacity(self.lookaheads.len());
        for ahead in &self.lookaheads {
            let begins = backward::begins(ahead, text, &known, &steps)?;
            known.push(begins);
        }
        let begins = backward::begins(&self.main, text, &known, &steps)?;
        Ok(KnownPositions { lookaheads: known, begins })
    }

    /// Returns whether a text contains a match.
    pub(super) fn is_match(&self, text: &str, count: Count<'_>) -> Result<bool, Error> {
        Ok(self.know(text, count)?.begins.first(text, 0).is_some())
    }

    /// Finds the first match at or after a position: the spans of the whole match and of its
    /// groups.
    pub(super) fn find_at(
        &self,
        text: &str,
        known: &KnownPositions,
        from: usize,
        count: Count<'_>,
    ) -> Result<Option<Spans>, Error> {
        let Some(begin) = known.begins.first(text, from) else { return Ok(None) };
        let steps = StepCounter { count, done: Cell::new(COUNTED) };
        let slots = forward::run(&self.main, text, &known.lookaheads, begin, &steps)?;
        Ok(slots.map(|slots| {
            let span = |group: &usize| {
                Some((*slots.get(2 * group)?.as_ref()?, *slots.get(2 * group + 1)?.as_ref()?))
            };
            self.groups.iter().map(span).collect()
        }))
    }

    /// Fails if finding matches, rather than testing for one, would take too much memory.
    pub(super) fn may_find(&self) -> Result<(), Error> {
        forward::fits(&self.main)
    }
}
