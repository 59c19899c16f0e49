//! Looks at the filter, the sort and the indexes, and picks one way.

use document::{DocRef, Document};
use pipeline::{Filter, sort::Sort};
use store::{Direction, Range};

use super::{
    Hint,
    bounds::{Bounds, bounds, conjuncts, successor},
    implied::{excludes_missing, implies},
};
use crate::{
    catalog::{IndexSpec, State},
    error::{Error, Kind, What},
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
    Rows(Vec<Range>),
    /// Entries of an index in these ranges.
    Index { index: Box<IndexSpec>, ranges: Vec<Range> },
}

/// A choice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) access: Access,
    pub(crate) direction: Direction,
    /// Rows come in the order of the sort.
    pub(crate) sorted: bool,
}

struct Candidate {
    score: usize,
    chosen: Chosen,
}

/// Picks the way for a filter and a sort.
pub(crate) fn choose(
    state: &State,
    filter: &Filter,
    sort: Option<&Sort>,
    hint: &Hint,
) -> Result<Chosen, Error> {
    if matches!(filter, Filter::Never) {
        let (access, direction) = (Access::Ids(Vec::new()), Direction::Forward);
        return Ok(Chosen { access, direction, sorted: true });
    }
    let mut parts = Vec::new();
    conjuncts(filter, &mut parts);
    let by_id = id_access(&parts, sort);
    let hinted = match hint {
        Hint::None => None,
        Hint::Natural(direction) => {
            let access = Access::Rows(vec![Range::all()]);
            return Ok(Chosen { access, direction: *direction, sorted: false });
        }
        Hint::Index(name) if name == "_id_" => return Ok(by_id.chosen),
        Hint::Index(name) => Some(find_index(state, |index| index.name == *name)?),
        Hint::Key(pattern) if is_id_pattern(pattern) => return Ok(by_id.chosen),
        Hint::Key(pattern) => Some(find_index(state, |index| same_pattern(index, pattern))?),
    };
    if let Some(index) = hinted {
        // Who asks for an index gets what is in it, also where that is not all the filter means.
        return Ok(index_access(index, &parts, sort).chosen);
    }
    let usable = state.record.indexes.iter().zip(&state.partial).filter(|(index, partial)| {
        index.ready
            && index.has_entries()
            && !index.hidden
            && partial.as_deref().is_none_or(|partial| implies(filter, partial))
    });
    let candidates = usable.map(|(index, _)| index_access(index, &parts, sort));
    let best = candidates.filter(|candidate| 0 < candidate.score).max_by_key(|c| c.score);
    Ok(match best {
        Some(best) if by_id.score < best.score => best.chosen,
        _ => by_id.chosen,
    })
}

fn is_id_pattern(pattern: &document::Document) -> bool {
    matches!(pattern.fields(), [(name, _)] if name == "_id")
}

fn find_index(state: &State, matches: impl Fn(&IndexSpec) -> bool) -> Result<&IndexSpec, Error> {
    let usable = |index: &&IndexSpec| index.ready && index.has_entries() && !index.hidden;
    let mut found = state.record.indexes.iter().filter(|index| matches(index)).filter(usable);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (None, _) => {
            let message = "hint provided does not correspond to an existing index";
            Err(Error::new(Kind::Invalid, message))
        }
        (Some(one), Some(other)) => {
            let message = format!(
                "Hint matched multiple indexes, must hint by index name. Matched: {} and {}",
                one.name, other.name
            );
            Err(Error::new(Kind::NotFound(What::Index), message))
        }
    }
}

/// Whether an index has this key pattern: numbers are compared as numbers.
fn same_pattern(index: &IndexSpec, pattern: &Document) -> bool {
    let order = document::compare_documents(DocRef::Tree(&index.pattern()), DocRef::Tree(pattern));
    order.is_eq()
}

/// The rows by id, or all of them.
fn id_access(parts: &[&Filter], sort: Option<&Sort>) -> Candidate {
    let by_id = sort.and_then(|sort| sort.parts.first()).filter(|part| part.path.as_str() == "_id");
    let direction = match by_id {
        Some(part) if part.descending => Direction::Backward,
        _ => Direction::Forward,
    };
    let sorted = by_id.is_some() || sort.is_none_or(|sort| sort.parts.is_empty());
    let (score, access) = match bounds(parts, "_id", false, true) {
        Some(Bounds::Points(mut keys)) => {
            if direction == Direction::Backward {
                keys.reverse();
            }
            (10_000, Access::Ids(keys))
        }
        Some(Bounds::Spans(spans)) => {
            let range =
                |span: super::bounds::Span| Range { start: span.start, end: Some(span.end) };
            let mut ranges: Vec<_> = spans.into_iter().map(range).collect();
            if direction == Direction::Backward {
                ranges.reverse();
            }
            (400, Access::Rows(ranges))
        }
        None => (0, Access::Rows(vec![Range::all()])),
    };
    let score = score + usize::from(by_id.is_some()) * 50;
    Candidate { score, chosen: Chosen { access, direction, sorted } }
}

/// What one index can do. Score 0: nothing.
fn index_access(index: &IndexSpec, parts: &[&Filter], sort: Option<&Sort>) -> Candidate {
    let mut prefixes = vec![keys::index(index.id)];
    let mut spans = None;
    let (mut points, mut equal) = (0, 0);
    for (at, (path, descending)) in index.key.iter().enumerate() {
        if index.multikey && 0 < at {
            break;
        }
        match bounds(parts, path, *descending, !index.multikey) {
            Some(Bounds::Points(found)) if prefixes.len() * found.len() <= MAX_RANGES => {
                let several = found.len() != 1;
                prefixes = extend(&prefixes, &found);
                points += 1;
                if !several && equal == at {
                    equal += 1;
                }
            }
            Some(Bounds::Spans(found)) => {
                spans = Some(found);
                break;
            }
            _ => break,
        }
    }
    let bounded = 0 < points || spans.is_some();
    let order = sort.and_then(|sort| provides(index, equal, points, sort));
    let usable = !index.sparse || first_excludes_missing(parts, &index.key);
    let full = points == index.key.len();
    let mut score = points * 1_000 + usize::from(spans.is_some()) * 500;
    score += usize::from(full && index.unique) * 5_000;
    score += usize::from(order.is_some()) * if bounded { 600 } else { 100 };
    if !usable || !(bounded || order.is_some()) {
        score = 0;
    }
    let direction = order.unwrap_or(Direction::Forward);
    let mut ranges = ranges(&prefixes, spans);
    if direction == Direction::Backward {
        ranges.reverse();
    }
    let sorted = order.is_some() || sort.is_none_or(|sort| sort.parts.is_empty());
    let access = Access::Index { index: Box::new(index.clone()), ranges };
    Candidate { score, chosen: Chosen { access, direction, sorted } }
}

fn extend(prefixes: &[Vec<u8>], components: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut out = Vec::with_capacity(prefixes.len() * components.len());
    for prefix in prefixes {
        for component in components {
            out.push([prefix.as_slice(), component].concat());
        }
    }
    out
}

fn ranges(prefixes: &[Vec<u8>], spans: Option<Vec<super::bounds::Span>>) -> Vec<Range> {
    let mut out = Vec::new();
    for prefix in prefixes {
        match &spans {
            None => out.push(Range { start: prefix.clone(), end: Some(successor(prefix)) }),
            Some(spans) => out.extend(spans.iter().map(|span| Range {
                start: [prefix.as_slice(), &span.start].concat(),
                end: Some([prefix.as_slice(), &span.end].concat()),
            })),
        }
    }
    out
}

/// Whether a walk of the index behind its equal fields gives the sort, and in which direction.
fn provides(index: &IndexSpec, equal: usize, points: usize, sort: &Sort) -> Option<Direction> {
    if index.multikey || points != equal || sort.parts.is_empty() {
        return None;
    }
    let fixed: Vec<&str> = index.key.iter().take(equal).map(|(path, _)| path.as_str()).collect();
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
    use pipeline::filter::PathTest;
    let Some((first, _)) = key.first() else { return false };
    parts.iter().any(|part| match part {
        Filter::Path(path, test) if path.as_str() == first => match test {
            PathTest::Compare(comparison, value) => excludes_missing(*comparison, value),
            PathTest::Exists | PathTest::Pattern(_) => true,
            PathTest::In(set) => set.values().iter().all(|value| !value.as_ref().is_nullish()),
            _ => false,
        },
        _ => false,
    })
}
