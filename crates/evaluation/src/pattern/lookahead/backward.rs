//! Finds the positions of a text at which a pattern may match, by scanning backward.
//!
//! The pattern is compiled to an automaton ([`Machine`]), and the text is scanned from its end with
//! the set of states from which a match can be reached. One scan decides that for all positions,
//! where a forward scan from each position would take quadratic time.

use regex_automata::nfa::thompson::State;
use regex_automata::util::primitives::StateID;

use super::{StepCounter, machine::Machine};
use crate::error::Error;

/// A set of positions of a text, including its end, as a bitmap.
#[derive(Debug)]
pub(super) struct Positions(Vec<u64>);

impl Positions {
    /// Returns the empty set of positions in a text of `len` bytes.
    fn none(len: usize) -> Self {
        Self(vec![0; len / 64 + 1])
    }

    fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// Returns the first position in the set at or after `from`. Positions inside a character,
    /// which an automaton on bytes can find, are skipped.
    pub(super) fn first(&self, text: &str, from: usize) -> Option<usize> {
        let mut at = from;
        while at <= text.len() {
            let rest = self.0.get(at / 64)? >> (at % 64);
            if rest == 0 {
                at = (at / 64 + 1) * 64;
                continue;
            }
            at += rest.trailing_zeros() as usize;
            if at <= text.len() && text.is_char_boundary(at) {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}

/// Returns the positions at which a match of the automaton may start, given the positions at which
/// the look-aheads inside it match.
///
/// The text is scanned from its end to its start. At each position a state is good if a match can
/// be reached from it: it is a match state, or it consumes the byte here and leads to a state that
/// is good at the next position. Then all states with an empty transition to a good state are good,
/// too.
pub(super) fn begins(
    machine: &Machine,
    text: &str,
    lookaheads: &[Positions],
    steps: &StepCounter<'_>,
) -> Result<Positions, Error> {
    let bytes = text.as_bytes();
    // A match starts where this state is good.
    let start = machine.nfa.start_anchored().as_usize();
    let mut begins = Positions::none(bytes.len());
    // By state, whether it is good at the next position, and at this one.
    let mut behind = vec![false; machine.len()];
    let mut here = vec![false; machine.len()];
    let mut found: Vec<StateID> = Vec::new();
    for at in (0..=bytes.len()).rev() {
        steps.add(machine.len())?;
        here.fill(false);
        for (id, state) in machine.nfa.states().iter().enumerate() {
            if reads_on(state, bytes, at, &behind)
                && let Ok(id) = StateID::new(id)
            {
                reach(&mut here, &mut found, id);
            }
        }
        // Follows empty transitions backward, each state once.
        while let Some(reached) = found.pop() {
            for before in machine.before(reached) {
                let state = machine.nfa.state(*before);
                if passes(machine, state, bytes, at, lookaheads) {
                    reach(&mut here, &mut found, *before);
                }
            }
        }
        if here.get(start) == Some(&true) {
            begins.insert(at);
        }
        std::mem::swap(&mut behind, &mut here);
    }
    Ok(begins)
}

/// Records that a state leads to a match from here, and queues it once for its predecessors.
fn reach(here: &mut [bool], found: &mut Vec<StateID>, state: StateID) {
    if let Some(held) = here.get_mut(state.as_usize())
        && !std::mem::replace(held, true)
    {
        found.push(state);
    }
}

/// Returns whether a state is a match state, or consumes the next byte and leads to a good state.
fn reads_on(state: &State, bytes: &[u8], at: usize, behind: &[bool]) -> bool {
    let next = match state {
        State::Match { .. } => return true,
        State::ByteRange { trans } => trans.matches(bytes, at).then_some(trans.next),
        State::Sparse(transitions) => transitions.matches(bytes, at),
        State::Dense(transitions) => transitions.matches(bytes, at),
        _ => None,
    };
    next.is_some_and(|next| behind.get(next.as_usize()) == Some(&true))
}

/// Returns whether a state without input can be passed here: an assertion that holds, or a
/// look-ahead that matches or not, as required.
pub(super) fn passes(
    machine: &Machine,
    state: &State,
    bytes: &[u8],
    at: usize,
    lookaheads: &[Positions],
) -> bool {
    match state {
        State::Look { look, .. } => machine.nfa.look_matcher().matches(*look, bytes, at),
        State::Capture { .. } => machine.lookahead_of(state).is_none_or(|lookahead_of| {
            lookaheads.get(lookahead_of.index).is_some_and(|begins| begins.has(at))
                == lookahead_of.is_positive
        }),
        _ => true,
    }
}
