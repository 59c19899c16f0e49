//! Predicate pushdown: the parts of a query that indexes can evaluate. Indexes contain stored
//! properties only, so conditions and orders on properties that the server sets are excluded.

use select::{
    plan::Select,
    sarg::{PathStep, Sarg},
};

use super::container_part::leads_to;
use crate::{item::SYSTEM, partition_key::KeyPath};

/// Returns the condition and the order that indexes may serve.
pub(super) fn stored_parts(
    plan: &Select,
    partition: &[KeyPath],
) -> (Sarg, Vec<(Vec<String>, bool)>) {
    (stored_condition(plan.sarg(), partition), stored_order(plan))
}

/// Returns the order of a query. The list is empty if no index can provide the order, because the
/// order depends on properties that the server sets.
pub(super) fn stored_order(plan: &Select) -> Vec<(Vec<String>, bool)> {
    let paths = plan.order_paths().filter(|paths| paths.iter().all(is_stored));
    paths.unwrap_or_default()
}

/// Returns whether the property at a path is stored.
fn is_stored((names, _): &(Vec<String>, bool)) -> bool {
    names.first().is_none_or(|name| !SYSTEM.contains(&name.as_str()))
}

/// Returns the part of a condition that an index may use. Two kinds of tests are replaced by
/// `Sarg::All`, which is always true: those on properties that the server sets, and those on the
/// paths in `partition`, whose values are equal for all items of the partition. The results are
/// correct, because the whole condition is still evaluated on every item found.
pub(super) fn stored_condition(sarg: &Sarg, partition: &[KeyPath]) -> Sarg {
    match sarg {
        Sarg::All => Sarg::All,
        Sarg::Never => Sarg::Never,
        Sarg::And(all) => {
            let kept: Vec<Sarg> = all
                .iter()
                .map(|one| self::stored_condition(one, partition))
                .filter(|one| *one != Sarg::All)
                .collect();
            if kept.is_empty() { Sarg::All } else { Sarg::And(kept) }
        }
        Sarg::Or(any) => {
            let kept: Vec<Sarg> =
                any.iter().map(|one| self::stored_condition(one, partition)).collect();
            if kept.contains(&Sarg::All) { Sarg::All } else { Sarg::Or(kept) }
        }
        Sarg::Test(path, test) => match path.first() {
            Some(PathStep::Property(name)) if SYSTEM.contains(&name.as_str()) => Sarg::All,
            _ if partition.iter().any(|key| leads_to(path, key)) => Sarg::All,
            _ => Sarg::Test(path.clone(), test.clone()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition_key::PartitionKeyDefinition;

    #[test]
    fn what_all_items_of_a_partition_have_in_common_helps_no_index() {
        let body = document::doc! { "paths": document::array!["/pk"], "kind": "Hash" };
        let key = PartitionKeyDefinition::parse(&body).unwrap();
        for (query, all, within) in [
            ("SELECT * FROM c WHERE c.pk = 1", 1, 0),
            ("SELECT * FROM c WHERE c.pk = 1 AND c.n = 2", 2, 1),
            ("SELECT * FROM c WHERE c.pk = 1 OR c.n = 2", 2, 0),
            ("SELECT * FROM c WHERE c._ts > 1 AND c.n = 2 AND c.pk.x = 1", 2, 2),
        ] {
            let plan = cosmos_sql::compile(query, &[]).unwrap();
            assert_eq!(tests(&stored_condition(plan.sarg(), &[])), all, "{query}");
            assert_eq!(tests(&stored_condition(plan.sarg(), key.paths())), within, "{query}");
        }
    }

    fn tests(sarg: &Sarg) -> usize {
        match sarg {
            Sarg::All | Sarg::Never => 0,
            Sarg::And(parts) | Sarg::Or(parts) => parts.iter().map(tests).sum(),
            Sarg::Test(..) => 1,
        }
    }
}
