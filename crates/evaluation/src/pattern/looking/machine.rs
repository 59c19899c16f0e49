//! One pattern as states and ways between them.

use regex_automata::nfa::thompson::{Compiler, Config, NFA, State, WhichCaptures};
use regex_automata::util::primitives::{PatternID, StateID};
use regex_syntax::ParserBuilder;

use super::super::{compiled::refused_syntax, groups::Flags, syntax::ahead_of};
use crate::{
    error::{Error, Kind},
    numbers::PATTERN_REFUSED,
};

/// Largest form of one part of a pattern, bytes.
const MAX_BYTES: usize = 1 << 20;
/// Deepest nesting of groups that is parsed.
const MAX_NESTING: u32 = 250;

/// A look-ahead that has to match where it stands, or must not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stands {
    /// Its number.
    pub(super) ahead: usize,
    /// Whether it has to match.
    pub(super) wanted: bool,
}

/// A part of a pattern as an automaton, with the look-aheads that stand in it. A look-ahead is an
/// empty group with a telling name, so that the compiler keeps its place.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The automaton.
    pub(super) nfa: NFA,
    /// By group: the look-ahead that stands where the group begins.
    stands: Vec<Option<Stands>>,
    /// By state: those that go on to it without reading anything.
    before: Vec<Vec<StateID>>,
}

/// The error of a pattern whose automaton would be too large.
fn too_large() -> Error {
    let text = "Regular expression is invalid: regular expression is too large";
    Error::new(Kind::TooLarge, PATTERN_REFUSED, text)
}

impl Machine {
    /// Compiles a rewritten pattern; `wanted` says of each look-ahead whether it has to match.
    pub(super) fn new(pattern: &str, flags: Flags, wanted: &[bool]) -> Result<Self, Error> {
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
        // Which groups stand for look-aheads is known by their names.
        let names = 0..nfa.group_info().group_len(PatternID::ZERO);
        let stands = names.map(|group| {
            let name = nfa.group_info().to_name(PatternID::ZERO, group)?;
            let ahead = ahead_of(name)?;
            Some(Stands { ahead, wanted: *wanted.get(ahead)? })
        });
        let stands = stands.collect();
        let before = before(&nfa);
        Ok(Self { nfa, stands, before })
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.nfa.states().len()
    }

    /// About what it holds.
    pub(super) fn bytes(&self) -> usize {
        let ways: usize = self.before.iter().map(|ways| size_of_val(ways) + 4 * ways.len()).sum();
        self.nfa.memory_usage() + ways + self.stands.len() * size_of::<Option<Stands>>()
    }

    /// The look-ahead that stands at a state: where its empty group begins.
    pub(super) fn stands(&self, state: &State) -> Option<Stands> {
        match state {
            // A group begins at an even slot; that of a look-ahead is empty.
            State::Capture { group_index, slot, .. } if slot.as_usize() % 2 == 0 => {
                self.stands.get(group_index.as_usize()).copied().flatten()
            }
            _ => None,
        }
    }

    /// The groups that the pattern has itself, the whole match first; groups that stand for
    /// look-aheads are left out.
    pub(super) fn own_groups(&self) -> Vec<usize> {
        let all = self.stands.iter().enumerate();
        all.filter(|(_, stands)| stands.is_none()).map(|(group, _)| group).collect()
    }

    /// The states that go on to this one without reading anything.
    pub(super) fn before(&self, state: StateID) -> &[StateID] {
        self.before.get(state.as_usize()).map_or(&[], Vec::as_slice)
    }
}

/// The states before each one, of those that go on without reading anything.
fn before(nfa: &NFA) -> Vec<Vec<StateID>> {
    let mut before = vec![Vec::new(); nfa.states().len()];
    for (at, state) in nfa.states().iter().enumerate() {
        let Ok(own) = StateID::new(at) else { continue };
        // The automaton knows its ways forward; a walk backward needs them turned.
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
