//! The part of a condition and of an order that a container's indexing policy allows indexes to
//! serve, whether or not these indexes exist at present. The items that a scan charges and the
//! indexes that are named to clients depend only on this part, so neither changes when an index is
//! added or dropped.
//!
//! ```text
//!  policy: /* without /c       condition: a = 1 and (b = 2 or c = 3) and d > 4
//!    allowed   a = 1 and d > 4   only items that meet this are charged
//!    read      a                 path of the most selective part; its index is read first
//!    missing   a                 an index is requested for a if a has none,
//!                                and for d if the index of a matches too many items
//! ```

use std::borrow::Cow;

use select::sarg::{PathStep, PathSteps, Sarg, ValueTest};

use super::scan::{IndexUse, Scan};
use crate::catalog::Record;

/// Returns the part of a condition that indexes may serve; other tests are replaced by
/// [`Sarg::All`].
pub(super) fn allowed_part<'a>(record: &Record, sarg: &'a Sarg) -> Cow<'a, Sarg> {
    match sarg {
        Sarg::All | Sarg::Never => Cow::Borrowed(sarg),
        Sarg::Test(path, _) if record.allows_path(path) => Cow::Borrowed(sarg),
        Sarg::Test(..) => Cow::Owned(Sarg::All),
        Sarg::And(parts) => {
            let parts = parts.iter().map(|part| allowed_part(record, part).into_owned());
            let kept: Vec<Sarg> = parts.filter(|part| *part != Sarg::All).collect();
            Cow::Owned(if kept.is_empty() { Sarg::All } else { Sarg::And(kept) })
        }
        Sarg::Or(parts) => {
            let parts: Vec<Sarg> =
                parts.iter().map(|part| allowed_part(record, part).into_owned()).collect();
            Cow::Owned(if parts.contains(&Sarg::All) { Sarg::All } else { Sarg::Or(parts) })
        }
    }
}

/// Returns the parts of a conjunction, sorted by how many items their kinds usually match, fewest
/// first.
pub(super) fn by_usual_matches(parts: &[Sarg]) -> Vec<&Sarg> {
    let mut parts: Vec<&Sarg> = parts.iter().collect();
    parts.sort_by_key(|part| usual_matches(part));
    parts
}

/// Ranks kinds of tests by how many items they usually match.
pub(super) fn usual_matches(sarg: &Sarg) -> u8 {
    match sarg {
        Sarg::Never => 0,
        Sarg::Test(_, ValueTest::Equal(_)) => 1,
        Sarg::Test(_, ValueTest::In(_)) => 2,
        Sarg::Test(_, ValueTest::Prefix(_)) => 3,
        Sarg::Test(_, ValueTest::Range { .. }) => 4,
        Sarg::And(_) | Sarg::Or(_) => 5,
        Sarg::Test(_, ValueTest::Text) => 6,
        Sarg::Test(_, ValueTest::Defined) => 7,
        Sarg::All => 8,
    }
}

/// Returns the paths to look up for a condition; `None` if the policy allows no useful index.
fn paths_of<'a>(
    record: &Record,
    sarg: &'a Sarg,
    passed: &dyn Fn(&[&'a PathSteps]) -> bool,
) -> Option<Vec<&'a PathSteps>> {
    match sarg {
        Sarg::All => None,
        Sarg::Never => Some(Vec::new()),
        Sarg::Test(path, _) => record.allows_path(path).then(|| vec![path]),
        Sarg::Or(parts) => {
            let all: Option<Vec<_>> =
                parts.iter().map(|part| paths_of(record, part, passed)).collect();
            all.map(|all| all.into_iter().flatten().collect())
        }
        // The indexes of one part suffice, unless that part is known to match too many items.
        Sarg::And(parts) => by_usual_matches(parts)
            .into_iter()
            .filter_map(|part| paths_of(record, part, passed))
            .find(|paths| !passed(paths)),
    }
}

/// Returns the paths that need an index to serve a condition, given that the indexes of the paths
/// in `unselective` match too many items.
pub(super) fn missing_paths(
    record: &Record,
    sarg: &Sarg,
    unselective: &[PathSteps],
) -> Vec<PathSteps> {
    let is_unselective = |paths: &[&PathSteps]| paths.iter().any(|path| unselective.contains(path));
    let wanted = paths_of(record, sarg, &is_unselective).unwrap_or_default();
    wanted.into_iter().filter(|path| record.is_unindexed(path)).cloned().collect()
}

/// For a scan of a whole container in the order of one path: returns that path and the condition on
/// it, if scanning the path's index is best. Returns `None` if another condition is more selective.
pub(super) fn order_path<'a>(
    record: &Record,
    scan: &'a Scan,
) -> Option<(PathSteps, Option<&'a ValueTest>)> {
    let [(names, descending)] = scan.order.as_slice() else { return None };
    // The index mixes the entries of all partitions, so for one partition reading its rows is
    // cheaper.
    if !scan.range.is_all() {
        return None;
    }
    let path: PathSteps = names.iter().cloned().map(PathStep::Property).collect();
    // Without a condition on the path only the descending order is possible, in which items without
    // a value come last.
    let test = match test_of_path(&scan.sarg, &path) {
        None if scan.sarg == Sarg::All && *descending => None,
        None => return None,
        some => some,
    };
    record.allows_path(&path).then_some((path, test))
}

/// Returns the part of the condition that tests the path, if no other part is more selective.
fn test_of_path<'a>(sarg: &'a Sarg, path: &[PathStep]) -> Option<&'a ValueTest> {
    let of_path = |part: &'a Sarg| match part {
        Sarg::Test(steps, test) if steps.as_slice() == path => match test {
            ValueTest::Range { .. }
            | ValueTest::Prefix(_)
            | ValueTest::Text
            | ValueTest::Defined => Some((part, test)),
            ValueTest::Equal(_) | ValueTest::In(_) => None,
        },
        _ => None,
    };
    let parts = match sarg {
        Sarg::And(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    // The most selective of several conditions on the path bounds the scan; the others are checked
    // on rows.
    let best = parts.iter().filter_map(of_path).min_by_key(|(part, _)| usual_matches(part));
    let (part, test) = best?;
    // A more selective condition on another path leaves fewer items, which are cheap to sort.
    let widest = parts.iter().all(|other| usual_matches(part) <= usual_matches(other));
    widest.then_some(test)
}

/// Returns the indexes that the policy allows for a scan, and whether one of them yields its order.
pub(super) fn served_by(record: &Record, scan: &Scan) -> (Vec<IndexUse>, bool) {
    if let Some((path, _)) = order_path(record, scan) {
        return (vec![IndexUse::Path(path)], true);
    }
    let ordered = !scan.order.is_empty() && scan.range.is_all();
    let composite = record.indexes.iter().filter(|_| ordered);
    let composite = composite.into_iter().find(|index| index.has_order(&scan.order));
    let mut used: Vec<IndexUse> = Vec::new();
    for path in paths_of(record, &scan.sarg, &|_| false).unwrap_or_default() {
        let path = IndexUse::Path(path.clone());
        if !used.contains(&path) {
            used.push(path);
        }
    }
    if used.is_empty() {
        used.extend(composite.map(|index| IndexUse::Order(index.name.clone())));
    }
    (used, composite.is_some())
}
