//! Looks at the filter, the sort and the indexes, and picks one way.
//!
//! Ways are scored by what they bound, without statistics: the same query on the same indexes
//! always goes the same way, and `explain` tells which.
//!
//! ```text
//!  10,000            ids that are named one by one
//!   5,000            all fields of a unique index are equal to something
//!   1,000 per field  equal to something (or one of several things)
//!     500            a range of the next field
//!     300            the next field is missing
//!      40            the next field is not equal to something, or not in a range
//!     600 or 100     the index gives the order of the sort, with bounds or without
//!     400            a range of ids
//! ```

use document::{DocRef, Document, limits::KEPT_KEY_COMPONENT_BYTES};
use pipeline::{Filter, sort::Sort};
use store::{Direction, KeyRange};

use super::{
    Hint,
    bounds::{Bounds, Span, collect_conjuncts, prefix_successor},
    conditions::{MISSING, PathBounds, bounds_on_path, demands_value},
    exact::{Residual, residual_of},
    implied::filter_implies,
};
use crate::{
    catalog::{CollectionState, ID_INDEX, IndexShape, IndexSpec},
    error::{Error, HintRefusal, Kind},
    keys,
};

/// Most combinations of points that one plan takes apart.
const MAX_RANGES: usize = 4_000;

/// How candidates are found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Access {
    /// Rows with these keys.
    Ids(Vec<Vec<u8>>),
    /// Rows in these ranges.
    Rows(Vec<KeyRange>),
    /// Entries of an index in these ranges.
    Index { index: Box<IndexSpec>, ranges: Vec<KeyRange> },
}

impl Access {
    /// By which way it comes to rows, for logs.
    pub(crate) fn way(&self) -> String {
        match self {
            Self::Ids(_) => "ids".to_owned(),
            Self::Rows(_) => "scan".to_owned(),
            Self::Index { index, .. } => format!("index {}", index.name),
        }
    }
}

/// A choice.
#[derive(Clone, Debug)]
pub(crate) struct ChosenAccess {
    /// Where candidates come from.
    pub(crate) access: Access,
    /// Of the walk over rows or entries.
    pub(crate) direction: Direction,
    /// Rows come in the order of the sort.
    pub(crate) sorted: bool,
    /// What of the filter the ranges do not say.
    pub(crate) residual: Residual,
}

impl ChosenAccess {
    /// Whether keys alone say how many documents are meant: each key in its ranges stands for one of
    /// them, and none is left out.
    pub(crate) fn is_counted_by_keys(&self) -> bool {
        let one_each = match &self.access {
            Access::Index { index, .. } => !index.multikey,
            Access::Rows(_) => true,
            // What is named may not exist.
            Access::Ids(_) => false,
        };
        one_each && matches!(self.residual, Residual::Nothing)
    }

    /// The index that is used: that of the id where ids are named or bounded, where rows come in its
    /// order because that is asked for, and where a hint names it. `None`: all rows are walked.
    pub(crate) fn used_index(&self, sort: Option<&Sort>, hint: &Hint) -> Option<u32> {
        let is_meant = match &self.access {
            Access::Index { index, .. } => return Some(index.id),
            Access::Ids(ids) => !ids.is_empty(),
            Access::Rows(ranges) => {
                let bounded = ranges.as_slice() != [KeyRange::all()];
                let ordered = self.sorted && sort.is_some_and(|sort| !sort.parts.is_empty());
                let hinted = matches!(hint, Hint::Index(_) | Hint::Key(_));
                bounded || ordered || hinted
            }
        };
        is_meant.then_some(ID_INDEX)
    }
}

/// A way and how good it is.
struct ScoredAccess<'a> {
    score: usize,
    access: Access,
    direction: Direction,
    sorted: bool,
    /// Paths that its ranges bound and at which no document has more than one value.
    ranged: Vec<&'a str>,
    /// What every document in it meets.
    partial: Option<&'a Filter>,
}

impl ScoredAccess<'_> {
    /// The way as a choice, with what of these conjuncts it leaves to be checked.
    fn choose(self, parts: &[&Filter]) -> ChosenAccess {
        let residual = residual_of(parts, &self.ranged, self.partial);
        let Self { access, direction, sorted, .. } = self;
        ChosenAccess { access, direction, sorted, residual }
    }
}

/// Picks the way for a filter and a sort.
pub(crate) fn choose_access(
    state: &CollectionState,
    filter: &Filter,
    sort: Option<&Sort>,
    hint: &Hint,
) -> Result<ChosenAccess, Error> {
    if matches!(filter, Filter::Never) {
        let (access, direction) = (Access::Ids(Vec::new()), Direction::Forward);
        return Ok(ChosenAccess { access, direction, sorted: true, residual: Residual::Whole });
    }
    let mut parts = Vec::new();
    collect_conjuncts(filter, &mut parts);
    let by_id = id_access(&parts, sort);
    let hinted = match hint {
        Hint::None => None,
        Hint::Natural(direction) => {
            let access = Access::Rows(vec![KeyRange::all()]);
            let way = ScoredAccess { access, direction: *direction, sorted: false, ..by_id };
            return Ok(ScoredAccess { ranged: Vec::new(), ..way }.choose(&parts));
        }
        Hint::Index(name) if name == "_id_" => return Ok(by_id.choose(&parts)),
        Hint::Index(name) => Some(find_index(state, |index| index.name == *name)?),
        Hint::Key(pattern) if is_id_pattern(pattern) => return Ok(by_id.choose(&parts)),
        Hint::Key(pattern) => Some(find_index(state, |index| same_pattern(index, pattern))?),
    };
    if let Some(index) = hinted {
        // Who asks for an index gets what is in it, also where that is not all the filter means.
        return Ok(index_access(index, None, &parts, sort).choose(&parts));
    }
    let usable = state.record.indexes.iter().zip(&state.partial).filter(|(index, partial)| {
        index.ready
            && index.has_entries()
            && !index.hidden
            && partial.as_deref().is_none_or(|partial| filter_implies(filter, partial))
    });
    let candidates =
        usable.map(|(index, partial)| index_access(index, partial.as_deref(), &parts, sort));
    // Of equal ones the last index wins; walking all rows has score 0.
    let best = candidates.filter(|candidate| 0 < candidate.score).max_by_key(|c| c.score);
    Ok(match best {
        Some(best) if by_id.score < best.score => best.choose(&parts),
        _ => by_id.choose(&parts),
    })
}

/// Whether a key pattern is that of the index of the id, which rows are kept in.
fn is_id_pattern(pattern: &document::Document) -> bool {
    matches!(pattern.fields(), [(name, _)] if name == "_id")
}

/// The one index that a hint means. One that is not complete or is hidden cannot be meant.
fn find_index(
    state: &CollectionState,
    matches: impl Fn(&IndexSpec) -> bool,
) -> Result<&IndexSpec, Error> {
    let usable = |index: &&IndexSpec| index.ready && index.has_entries() && !index.hidden;
    let mut found = state.record.indexes.iter().filter(|index| matches(index)).filter(usable);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (None, _) => {
            let message = "the hint means no index that can be read";
            Err(Error::new(Kind::HintRefused(HintRefusal::NoIndex), message))
        }
        (Some(one), Some(other)) => {
            let (first, second) = (one.name.clone(), other.name.clone());
            let message = format!("the hint means more than one index: {first} and {second}");
            let refusal = HintRefusal::SeveralIndexes { first, second };
            Err(Error::new(Kind::HintRefused(refusal), message))
        }
    }
}

/// Whether an index has this key pattern: numbers are compared as numbers.
fn same_pattern(index: &IndexSpec, pattern: &Document) -> bool {
    let order =
        document::compare_documents(DocRef::Tree(&index.key_pattern()), DocRef::Tree(pattern));
    order.is_eq()
}

/// The rows by id, or all of them.
fn id_access(parts: &[&Filter], sort: Option<&Sort>) -> ScoredAccess<'static> {
    let by_id = sort.and_then(|sort| sort.parts.first()).filter(|part| part.path.as_str() == "_id");
    let direction = match by_id {
        Some(part) if part.descending => Direction::Backward,
        _ => Direction::Forward,
    };
    let mut sorted = by_id.is_some() || sort.is_none_or(|sort| sort.parts.is_empty());
    let (score, access) = match bounds_on_path(parts, "_id", false, true) {
        Some(PathBounds { bounds: Bounds::Points(mut keys), .. }) => {
            // The keys of several long ids do not stand in the order of the ids.
            sorted &= by_id.is_none() || keys.iter().filter(|key| is_cut(key)).count() < 2;
            if direction == Direction::Backward {
                keys.reverse();
            }
            (10_000, Access::Ids(keys))
        }
        Some(PathBounds { bounds: Bounds::Spans(spans), score }) => {
            let range = |span: Span| KeyRange { start: span.start, end: Some(span.end) };
            let mut ranges: Vec<_> = spans.into_iter().map(range).collect();
            if direction == Direction::Backward {
                ranges.reverse();
            }
            (score.min(400), Access::Rows(ranges))
        }
        None => (0, Access::Rows(vec![KeyRange::all()])),
    };
    // A stored id is never an array.
    let ranged = if 0 < score { vec!["_id"] } else { Vec::new() };
    let score = score + usize::from(by_id.is_some()) * 50;
    ScoredAccess { score, access, direction, sorted, ranged, partial: None }
}

/// Whether the key of an id was cut.
fn is_cut(key: &[u8]) -> bool {
    KEPT_KEY_COMPONENT_BYTES < key.len()
}

/// What one index can do. Score 0: nothing.
fn index_access<'a>(
    index: &'a IndexSpec,
    partial: Option<&'a Filter>,
    parts: &[&Filter],
    sort: Option<&Sort>,
) -> ScoredAccess<'a> {
    let mut prefixes = vec![keys::index_prefix(index.id)];
    let mut spans = None;
    let (mut points, mut equal, mut score) = (0, 0, 0);
    for (at, (path, descending)) in index.key.iter().enumerate() {
        // Values of several fields may come from different elements of an array, so only the first
        // field can be bounded.
        if index.multikey && 0 < at {
            break;
        }
        match bounds_on_path(parts, path, *descending, !index.multikey) {
            // Each combination of points is a range of its own.
            Some(PathBounds { bounds: Bounds::Points(found), score: worth })
                if prefixes.len() * found.len() <= MAX_RANGES =>
            {
                let several = found.len() != 1;
                prefixes = extend_prefixes(&prefixes, &found);
                points += 1;
                score += worth;
                if !several && equal == at {
                    equal += 1;
                }
            }
            Some(PathBounds { bounds: Bounds::Spans(found), score: worth })
                if prefixes.len() * found.len() <= MAX_RANGES =>
            {
                spans = Some(found);
                score += worth;
                break;
            }
            _ => break,
        }
    }
    let bounded = 0 < points || spans.is_some();
    // Fields are bounded from the first one on, without a gap.
    let used = points + usize::from(spans.is_some());
    let order = sort.and_then(|sort| direction_for_sort(index, equal, points, sort));
    // A sparse index lacks rows that a filter for missing values matches.
    let usable = !index.sparse || first_excludes_missing(parts, &index.key);
    let full = points == index.key.len();
    score += usize::from(full && index.unique) * 5_000;
    // A bound that leaves out little counts as none.
    score += usize::from(order.is_some()) * if MISSING <= score { 600 } else { 100 };
    if !usable || !(bounded || order.is_some()) {
        score = 0;
    }
    let direction = order.unwrap_or(Direction::Forward);
    let mut ranges = index_ranges(&prefixes, spans);
    if direction == Direction::Backward {
        ranges.reverse();
    }
    let sorted = order.is_some() || sort.is_none_or(|sort| sort.parts.is_empty());
    let ranged = match index.shape {
        IndexShape::Fields if !index.multikey => {
            index.key.iter().take(used).map(|(path, _)| path.as_str()).collect()
        }
        _ => Vec::new(),
    };
    let access = Access::Index { index: Box::new(index.clone()), ranges };
    ScoredAccess { score, access, direction, sorted, ranged, partial }
}

/// Every prefix with every component after it, in key order.
fn extend_prefixes(prefixes: &[Vec<u8>], components: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(prefixes.len() * components.len());
    for prefix in prefixes {
        for component in components {
            out.push([prefix.as_slice(), component].concat());
        }
    }
    out
}

/// The ranges of entries that begin with these prefixes, bounded by the spans of the next field.
fn index_ranges(prefixes: &[Vec<u8>], spans: Option<Vec<Span>>) -> Vec<KeyRange> {
    let mut out = Vec::new();
    for prefix in prefixes {
        match &spans {
            None => {
                out.push(KeyRange { start: prefix.clone(), end: Some(prefix_successor(prefix)) })
            }
            Some(spans) => out.extend(spans.iter().map(|span| KeyRange {
                start: [prefix.as_slice(), &span.start].concat(),
                end: Some([prefix.as_slice(), &span.end].concat()),
            })),
        }
    }
    out
}

/// Whether a walk of the index after its equal fields gives the sort, and in which direction.
fn direction_for_sort(
    index: &IndexSpec,
    equal: usize,
    points: usize,
    sort: &Sort,
) -> Option<Direction> {
    // Several points of one field are walked one after the other: their entries are not in one
    // order.
    if index.multikey || points != equal || sort.parts.is_empty() {
        return None;
    }
    let fixed: Vec<&str> = index.key.iter().take(equal).map(|(path, _)| path.as_str()).collect();
    // A field that is equal to one thing orders nothing.
    let wanted = sort.parts.iter().filter(|part| !fixed.contains(&part.path.as_str()));
    let mut fields = index.key.iter().skip(equal);
    let mut direction = None;
    for part in wanted {
        let (path, descending) = fields.next()?;
        if path != part.path.as_str() {
            return None;
        }
        let needed =
            if *descending == part.descending { Direction::Forward } else { Direction::Backward };
        if direction.is_some_and(|direction| direction != needed) {
            return None;
        }
        direction = Some(needed);
    }
    Some(direction.unwrap_or(Direction::Forward))
}

/// Whether the filter leaves out documents that lack the first field of a sparse index.
fn first_excludes_missing(parts: &[&Filter], key: &[(String, bool)]) -> bool {
    key.first().is_some_and(|(first, _)| parts.iter().any(|part| demands_value(part, first)))
}
