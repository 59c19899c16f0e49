//! At which positions of a text a pattern may begin, found from the end of the text.
//!
//! A machine is an automaton, and the text is walked from its end to its beginning with the set of
//! states from which the end can be reached. One walk answers for every position at once, which a
//! walk forward from each position would take quadratic time for.

use regex_automata::nfa::thompson::State;
use regex_automata::util::primitives::StateID;

use super::{Steps, machine::Machine};
use crate::error::Error;

/// A set of positions of a text, its end included.
#[derive(Debug)]
pub(super) struct Positions(Vec<u64>);

impl Positions {
    /// No position yet, for a text of so many bytes.
    fn none(len: usize) -> Self {
        Self(vec![0; len / 64 + 1])
    }

    /// Adds a position.
    fn insert(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Whether a position is among them.
    pub(super) fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// The first position from one on that lies between characters. A machine works on bytes, and
    /// could begin inside a character.
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

/// At which positions a match of the machine may begin, given where those of the look-aheads inside
/// it do.
///
/// The text is walked from its end to its beginning. At each position a state counts as good when
/// the end can be reached from it: it is the end, or it reads the byte here and reaches a state
/// that is good one position on; then all states that go on to a good one without reading are good
/// too.
pub(super) fn begins(
    machine: &Machine,
    text: &str,
    aheads: &[Positions],
    steps: &Steps<'_>,
) -> Result<Positions, Error> {
    let bytes = text.as_bytes();
    // The state that a match begins in: where it is good, a match begins.
    let start = machine.nfa.start_anchored().as_usize();
    let mut begins = Positions::none(bytes.len());
    // By state, whether a match can be reached from it at the position behind this one, and here.
    let mut behind = vec![false; machine.len()];
    let mut here = vec![false; machine.len()];
    let mut found: Vec<StateID> = Vec::new();
    for at in (0..=bytes.len()).rev() {
        steps.add(machine.len())?;
        // Good states of this position are found anew.
        here.fill(false);
        for (id, state) in machine.nfa.states().iter().enumerate() {
            if reads_on(state, bytes, at, &behind)
                && let Ok(id) = StateID::new(id)
            {
                reach(&mut here, &mut found, id);
            }
        }
        // Then backward along the ways that read nothing, each state once.
        while let Some(reached) = found.pop() {
            for before in machine.before(reached) {
                let state = machine.nfa.state(*before);
                if passes(machine, state, bytes, at, aheads) {
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

/// Marks a state as good here, and keeps it for those before it, once.
fn reach(here: &mut [bool], found: &mut Vec<StateID>, state: StateID) {
    if let Some(held) = here.get_mut(state.as_usize())
        && !std::mem::replace(held, true)
    {
        found.push(state);
    }
}

/// Whether a state is the end, or reads the next byte and reaches a good state from there.
fn reads_on(state: &State, bytes: &[u8], at: usize, behind: &[bool]) -> bool {
    let next = match state {
        State::Match { .. } => return true,
        State::ByteRange { trans } => trans.matches(bytes, at).then_some(trans.next),
        State::Sparse(ways) => ways.matches(bytes, at),
        State::Dense(ways) => ways.matches(bytes, at),
        _ => None,
    };
    next.is_some_and(|next| behind.get(next.as_usize()) == Some(&true))
}

/// Whether a state that reads nothing lets a walk pass here: an assertion that holds, or a
/// look-ahead that does or does not match, as wanted.
pub(super) fn passes(
    machine: &Machine,
    state: &State,
    bytes: &[u8],
    at: usize,
    aheads: &[Positions],
) -> bool {
    match state {
        State::Look { look, .. } => machine.nfa.look_matcher().matches(*look, bytes, at),
        State::Capture { .. } => machine.stands(state).is_none_or(|stands| {
            aheads.get(stands.ahead).is_some_and(|begins| begins.has(at)) == stands.wanted
        }),
        _ => true,
    }
}
