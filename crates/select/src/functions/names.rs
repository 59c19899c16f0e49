//! Aliases of functions, and names of known functions that are not implemented.

/// Pairs of an alias and the name of the function.
const ALIASES: &[(&str, &str)] = &[
    ("CONTAINSALLCI", "CONTAINS_ALL_CI"),
    ("CONTAINSALLCS", "CONTAINS_ALL_CS"),
    ("CONTAINSANYCI", "CONTAINS_ANY_CI"),
    ("CONTAINSANYCS", "CONTAINS_ANY_CS"),
    ("INDEXOF", "INDEX_OF"),
    ("INTMULTIPLY", "INTMUL"),
    ("IS_BOOLEAN", "IS_BOOL"),
    ("OBJECT_TO_ARRAY", "OBJECTTOARRAY"),
    ("SET_DIFFERENCE", "SETDIFFERENCE"),
    ("SET_EQUAL", "SETEQUAL"),
    ("SET_INTERSECT", "SETINTERSECT"),
    ("SET_UNION", "SETUNION"),
    ("STRING_EQUALS", "STRINGEQUALS"),
    ("STRING_JOIN", "STRINGJOIN"),
    ("STRING_SPLIT", "STRINGSPLIT"),
    ("STRING_TO_ARRAY", "STRINGTOARRAY"),
    ("STRING_TO_BOOLEAN", "STRINGTOBOOLEAN"),
    ("STRING_TO_NULL", "STRINGTONULL"),
    ("STRING_TO_NUMBER", "STRINGTONUMBER"),
    ("STRING_TO_OBJECT", "STRINGTOOBJECT"),
    ("TO_STRING", "TOSTRING"),
];

/// Names of functions of the language that are not implemented yet.
pub const LATER: &[&str] = &[
    "FULLTEXTCONTAINS",
    "FULLTEXTCONTAINSALL",
    "FULLTEXTCONTAINSANY",
    "FULLTEXTSCORE",
    "FULLTEXT_CONTAINS",
    "FULLTEXT_CONTAINS_ALL",
    "FULLTEXT_CONTAINS_ANY",
    "HASH",
    "RRF",
    "VECTORDISTANCE",
];

/// Returns the name that an alias refers to, or the name itself.
pub(super) fn resolve_alias(name: &str) -> &str {
    let found = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    found.map_or(name, |(_, name)| name)
}

/// Returns whether this is the name of a known function that is not implemented, ignoring case.
pub fn is_later(name: &str) -> bool {
    LATER.iter().any(|later| later.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{all_functions, find_function};
    use super::*;

    #[test]
    fn a_name_occurs_once_and_every_alias_leads_somewhere() {
        let mut names = HashSet::new();
        for function in all_functions() {
            assert!(names.insert(function.name), "{} occurs twice", function.name);
            assert_eq!(function.name, function.name.to_uppercase());
            assert!(!is_later(function.name), "{}", function.name);
        }
        for (alias, name) in ALIASES {
            assert!(!names.contains(alias), "{alias}");
            assert_eq!(find_function(&alias.to_lowercase()).map(|found| found.name), Some(*name));
        }
    }

    #[test]
    fn names_are_found_in_any_case_and_unknown_ones_are_not() {
        assert_eq!(find_function("StringEquals").map(|found| found.name), Some("STRINGEQUALS"));
        assert!(find_function("NOPE").is_none());
        assert!(find_function("COUNT").is_none());
        assert!(is_later("VectorDistance") && is_later("FullTextScore") && !is_later("ABS"));
    }
}
