//! The order of the modules of our crates, from below to above, and the circles that stay.

/// A crate and its modules: each imports from those before it.
pub const ORDERS: &[(&str, &[&str])] = &[(
    "engine",
    &[
        "limits", "rules", "error", "names", "keys", "lanes", "yielding", "amount", "attempts",
        "catalog", "access", "entry", "item_key", "row", "view", "backfill", "persist", "reaper",
        "resource", "inner", "engine", "retry", "counters", "expire", "index", "feed", "read",
        "write", "item", "check",
    ],
)];

/// A crate, modules of it that import each other, and why that stays.
pub const CIRCLES: &[(&str, &[&str], &str)] = &[];
