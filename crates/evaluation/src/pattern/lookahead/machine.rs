//! A regular expression compiled to an automaton.

use regex_automata::nfa::thompson::{Compiler, Config, NFA, State, WhichCaptures};
use regex_automata::util::primitives::{PatternID, StateID};
use regex_syntax::ParserBuilder;

use super::super::{compiled::refused_syntax, groups::Flags, syntax::ahead_of, text::too_large};
use crate::error::Error;

/// Maximum size of the automaton of one part of a pattern, in bytes.
const MAX_BYTES: usize = 1 << 20;
const MAX_NESTING: u32 = 250;

/// A reference from a position of a pattern to a look-ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookaheadRef {
    /// Index into the list of look-aheads.
    pub(super) index: usize,
    pub(super) is_positive: bool,
}

/// A part of a pattern as an automaton, with the look-aheads in it. A look-ahead is represented by
/// an empty group with a special name, so that the compiler keeps its position.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) nfa: NFA,
    /// For each group, the look-ahead that the group represents; `None` for an ordinary group.
    lookahead_of: Vec<Option<LookaheadRef>>,
    /// For each state, its predecessors by transitions that consume no input.
    before: Vec<Vec<StateID>>,
}

impl Machine {
    /// Compiles a rewritten pattern; `is_positive[i]` says whether the look-ahead `i` is positive.
    pub(super) fn new(pattern: &str, flags: Flags, is_positive: &[bool]) -> Result<Self, Error> {
        let hir = ParserBuilder::new()
            .nest_limit(MAX_NESTING)
            .case_insensitive(flags.ignore_case)
            .build()
            .parse(pattern)
            .map_err(|error| refused_syntax(&error.to_string()))?;
        let config = Config::new()
            .utf8(true)
            .nfa_size_limit(Some(MAX_BYTES))
            .which_captures(WhichCaptures::All);
        let nfa =
            Compiler::new().configure(config).build_from_hir(&hir).map_err(|_| too_large())?;
        // Groups that represent look-aheads are recognized by name.
        let names = 0..nfa.group_info().group_len(PatternID::ZERO);
        let lookahead_of = names.map(|group| {
            let name = nfa.group_info().to_name(PatternID::ZERO, group)?;
            let index = ahead_of(name)?;
            Some(LookaheadRef { index, is_positive: *is_positive.get(index)? })
        });
        let lookahead_of = lookahead_of.collect();
        let before = before(&nfa);
        Ok(Self { nfa, lookahead_of, before })
    }

    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.nfa.states().len()
    }

    /// Returns the approximate memory of the automaton, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let ways: usize = self.before.iter().map(|ways| size_of_val(ways) + 4 * ways.len()).sum();
        self.nfa.memory_usage() + ways + self.lookahead_of.len() * size_of::<Option<LookaheadRef>>()
    }

    /// Returns the look-ahead that a state represents, or `None`. Each look-ahead is compiled to an
    /// empty group; the match is tested where that group starts.
    pub(super) fn lookahead_of(&self, state: &State) -> Option<LookaheadRef> {
        match state {
            // A group has two slots; the even one is its start.
            State::Capture { group_index, slot, .. } if slot.as_usize() % 2 == 0 => {
                self.lookahead_of.get(group_index.as_usize()).copied().flatten()
            }
            _ => None,
        }
    }

    /// Returns the pattern's capture groups, the whole match first, without the groups that
    /// represent look-aheads.
    pub(super) fn own_groups(&self) -> Vec<usize> {
        let all = self.lookahead_of.iter().enumerate();
        all.filter(|(_, lookahead_of)| lookahead_of.is_none()).map(|(group, _)| group).collect()
    }

    /// Returns the predecessors of a state by transitions that consume no input.
    pub(super) fn before(&self, state: StateID) -> &[StateID] {
        self.before.get(state.as_usize()).map_or(&[], Vec::as_slice)
    }
}

/// Computes the predecessors of each state by transitions that consume no input.
fn before(nfa: &NFA) -> Vec<Vec<StateID>> {
    let mut before = vec![Vec::new(); nfa.states().len()];
    for (at, state) in nfa.states().iter().enumerate() {
        let Ok(own) = StateID::new(at) else { continue };
        // The automaton has only forward transitions; a backward scan needs the reverse.
        let mut note = |next: &StateID| {
            if let Some(ways) = before.get_mut(next.as_usize()) {
                ways.push(own);
            }
        };
        match state {
            State::Look { next, .. } | State::Capture { next, .. } => note(next),
            State::Union { alternates } => alternates.iter().for_each(note),
            State::BinaryUnion { alt1, alt2 } => {
                note(alt1);
                note(alt2);
            }
            _ => {}
        }
    }
    before
}
