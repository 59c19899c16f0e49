//! What indexes can know of a query: what is stored. What the server sets in an item is not.

use query::json::{
    sarg::{Sarg, Step},
    select::Select,
};

use crate::item::SYSTEM;

/// The order that an index may have; none when it is about what the server sets.
pub(super) fn order(plan: &Select) -> Vec<(Vec<String>, bool)> {
    let paths = plan.order_paths().filter(|paths| paths.iter().all(is_stored));
    paths.unwrap_or_default()
}

/// Whether indexes hold what is at a path.
fn is_stored((names, _): &(Vec<String>, bool)) -> bool {
    names.first().is_none_or(|name| !SYSTEM.contains(&name.as_str()))
}

/// What an index may use of a condition: nothing about what the server sets.
pub(super) fn sarg(sarg: &Sarg) -> Sarg {
    match sarg {
        Sarg::All => Sarg::All,
        Sarg::Never => Sarg::Never,
        Sarg::And(all) => {
            let kept: Vec<Sarg> =
                all.iter().map(self::sarg).filter(|one| *one != Sarg::All).collect();
            if kept.is_empty() { Sarg::All } else { Sarg::And(kept) }
        }
        Sarg::Or(any) => {
            let kept: Vec<Sarg> = any.iter().map(self::sarg).collect();
            if kept.contains(&Sarg::All) { Sarg::All } else { Sarg::Or(kept) }
        }
        Sarg::Test(path, test) => match path.first() {
            Some(Step::Property(name)) if SYSTEM.contains(&name.as_str()) => Sarg::All,
            _ => Sarg::Test(path.clone(), test.clone()),
        },
    }
}
