//! Checks that expired documents are only visible through views, apart from the exceptions listed
//! here. The compiler enforces most of this, because a snapshot never leaves `engine/src/view`;
//! this test checks the list of exceptions, and that the folder does not export snapshots.

use crate::tidy::Source;

/// Files that may read rows and entries including expired ones, with the reason.
const SEE_EXPIRED: &[(&str, &str)] = &[
    ("crates/engine/src/feed/", "an expired item is the image in its expiry event"),
    ("crates/engine/src/changes/tell.rs", "an expired document is the image in its change record"),
    ("crates/engine/src/check.rs", "it compares entries with rows as they are stored"),
    ("crates/engine/src/last_change.rs", "a change counts, whether or not its item has expired"),
    ("crates/engine/src/expire/build.rs", "new counters count what is there, expired or not"),
];

/// Files that read without views, with the reason.
const PAST_VIEWS: &[(&str, &str)] = &[
    ("crates/engine/src/view/", "it makes them"),
    ("crates/engine/src/copies/", "no engine is open on a copy, and no document gets out of it"),
];

/// Returns a message for each read without a view.
pub fn violations(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let name = source.name();
        let is_listed = PAST_VIEWS.iter().any(|(path, _)| name.starts_with(path));
        if !name.starts_with("crates/engine/src/") || is_listed {
            continue;
        }
        let code = source.text.lines().map(|line| line.split("//").next().unwrap_or_default());
        for line in code {
            let listed = SEE_EXPIRED.iter().any(|(path, _)| name.starts_with(path));
            if line.contains("including_expired") && !listed {
                found.push(format!("{name} sees expired documents: {}", line.trim()));
            }
            if line.contains(".snapshot")
                || line.contains("Snapshot,")
                || line.contains("dyn Snapshot")
            {
                found.push(format!("{name} reads past a view: {}", line.trim()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sources;

    #[test]
    fn documents_are_read_through_views() {
        assert_eq!(violations(&sources(&crate::root())), Vec::<String>::new());
    }

    #[test]
    fn a_read_past_a_view_is_found() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let sources = [
            source("crates/engine/src/read/a.rs", "self.snapshot.get(space, key)"),
            source("crates/engine/src/item/b.rs", "view.including_expired().row(key)"),
            source("crates/engine/src/item/c.rs", "use store::{Snapshot, Store};"),
            source("crates/engine/src/check.rs", "self.including_expired().entry(&key)"),
            source("crates/engine/src/view/live.rs", "self.snapshot.get(space, key)"),
            source("crates/engine/src/item/d.rs", "fn read(from: &dyn Snapshot) {"),
            source("crates/engine/src/item/e.rs", "// a .snapshot in a comment"),
        ];
        let found = violations(&sources);
        let names: Vec<&str> = found.iter().filter_map(|line| line.split(' ').next()).collect();
        let wanted = ["read/a.rs", "item/b.rs", "item/c.rs", "item/d.rs"];
        assert_eq!(names, wanted.map(|name| format!("crates/engine/src/{name}")));
    }
}
