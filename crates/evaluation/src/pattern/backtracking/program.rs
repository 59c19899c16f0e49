//! The program of a pattern: operations on a position of the text, registers and the stack.

use regex_syntax::hir::{ClassUnicode, Look};

/// Index of a register. Registers hold positions of the text and heights of the stack.
pub(super) type Register = u32;
/// The value of a register that has not been set.
pub(super) const UNSET: u32 = u32::MAX;
/// The register of the reported start of the match.
pub(super) const START: Register = 0;

/// The registers of a capture group: where its current turn began, and the span of its last turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupRegisters {
    pub(super) begun: Register,
    pub(super) start: Register,
    pub(super) end: Register,
}

impl GroupRegisters {
    /// Returns the registers of a group by its number, from 1.
    pub(super) fn of(group: usize) -> Self {
        let first = u32::try_from(group).unwrap_or(UNSET / 4).saturating_mul(3).saturating_sub(2);
        Self { begun: first, start: first + 1, end: first + 2 }
    }
}

/// A set of characters, tested one at a time.
#[derive(Clone, Debug)]
pub(super) struct CharSet {
    /// The ASCII characters of the set as a bitmap.
    ascii: u128,
    ranges: Box<[(char, char)]>,
}

impl CharSet {
    pub(super) fn new(class: &ClassUnicode) -> Self {
        let ranges: Box<[_]> =
            class.ranges().iter().map(|range| (range.start(), range.end())).collect();
        let has = |c: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&c));
        let ascii = ('\0'..='\x7f').filter(|c| has(*c)).fold(0, |all, c| all | 1 << u32::from(c));
        Self { ascii, ranges }
    }

    pub(super) fn has(&self, c: char) -> bool {
        if c.is_ascii() {
            return self.ascii >> u32::from(c) & 1 == 1;
        }
        let next = self.ranges.partition_point(|(start, _)| *start <= c);
        next.checked_sub(1).and_then(|at| self.ranges.get(at)).is_some_and(|(_, end)| c <= *end)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.ranges)
    }
}

/// An operation. Most operations continue at the next one.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Reads this text, in UTF-8.
    Literal(Box<[u8]>),
    /// Reads a character of the set.
    Set(CharSet),
    /// Reads from `least` to `most` characters of the set: as many as possible first, or as few as
    /// possible.
    Run {
        set: CharSet,
        least: u32,
        most: u32,
        greedy: bool,
    },
    /// Fails unless the assertion holds.
    Look(Look),
    /// Continues at one operation and, if that fails, at the other.
    Split {
        first: u32,
        second: u32,
    },
    Jump(u32),
    /// Stores the position in a register.
    Store(Register),
    /// Ends a turn of a group.
    Close(GroupRegisters),
    /// Continues at `exit` if nothing was read since the position was stored in the register.
    ExitIfEmpty {
        register: Register,
        exit: u32,
    },
    /// Stores the height of the stack in a register.
    StoreHeight(Register),
    /// Drops the alternatives above the height in a register.
    Cut(Register),
    /// Goes back to the position in a register.
    Return(Register),
    /// Drops all above the height in a register, and fails.
    Refuse(Register),
    /// Goes back by `least` characters and, if that fails, by up to `more` more.
    StepBack {
        least: u32,
        more: u32,
    },
    /// Fails unless the position is the one in a register.
    At(Register),
    /// Reads the text that a group matched last; fails if it has matched none.
    Reference {
        group: GroupRegisters,
        ignore_case: bool,
    },
    /// Fails unless the position is the one at which the search started.
    AtSearchStart,
    Fail,
    Match,
}

/// A pattern compiled to operations.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) registers: usize,
    /// Number of capture groups of the pattern.
    pub(super) groups: usize,
}

impl Program {
    /// Returns whether matches can only start at the start of the text.
    pub(super) fn is_anchored(&self) -> bool {
        matches!(self.ops.first(), Some(Op::Look(Look::Start)))
    }

    /// Returns the text with which every match starts; `None` if it is not known.
    pub(super) fn prefix(&self) -> Option<&str> {
        match self.ops.first() {
            Some(Op::Literal(text)) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }
}
