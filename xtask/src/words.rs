//! Counts phrases in comments, messages and pages that readers have to read twice. `words.txt`
//! lists the phrases with the number of times that each may occur. A number may only fall, and must
//! be lowered when fewer are found.

use std::path::Path;

use crate::tidy::{Source, collect};

/// Folders and files whose prose is counted.
const ROOTS: &[&str] = &[
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "bench",
    "crates",
    "docs",
    "fuzz",
    "tests",
    "web/src",
    "xtask/src",
];
/// Files with texts of other products, and this file.
const EXCLUDED: &[&str] = &["docs/compat", "xtask/src/words.rs"];
const KINDS: &[&str] = &["md", "py", "rs", "ts", "tsx"];
/// Folders that builds make.
const BUILT: &[&str] = &["target", "node_modules", "dist", "bin", "obj", "build", "__pycache__"];
/// The line of `words.txt` that counts doc comments of at most `FRAGMENT` words.
const FRAGMENTS: &str = "(doc comment of four words or fewer)";
const FRAGMENT: usize = 4;

/// A phrase, how often it may occur, and how often it does.
#[derive(Debug, PartialEq, Eq)]
pub struct Count {
    /// The phrase in lower case, or [`FRAGMENTS`].
    pub phrase: String,
    /// The number of occurrences that the table allows.
    pub allowed: usize,
    /// The number of occurrences in the files.
    pub found: usize,
}

/// Reads the files with prose below `root`.
pub fn files(root: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    for name in ROOTS {
        collect(root, &root.join(name), KINDS, skipped, &mut found);
    }
    found
}

/// Returns whether the file or folder is excluded, or a build made it.
fn skipped(path: &Path) -> bool {
    EXCLUDED.iter().any(|excluded| path.starts_with(excluded))
        || path.file_name().is_some_and(|name| BUILT.iter().any(|built| name == *built))
}

/// Counts each phrase of `table` in the files.
pub fn counts(table: &str, files: &[Source]) -> Vec<Count> {
    let texts: Vec<String> = files.iter().map(|file| prose(&file.text)).collect();
    table
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(allowed, phrase)| Count {
            phrase: phrase.to_owned(),
            allowed: allowed.parse().unwrap_or(0),
            found: if phrase == FRAGMENTS {
                files.iter().map(fragments).sum()
            } else {
                texts.iter().map(|text| occurrences(text, phrase)).sum()
            },
        })
        .collect()
}

/// Returns the text in lower case and in one line, without the marks of comments, so that a phrase
/// is found across a line break.
fn prose(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches(['/', '!', '#', ':', '*']);
        for word in line.split_whitespace() {
            joined.push_str(word);
            joined.push(' ');
        }
    }
    joined.make_ascii_lowercase();
    joined
}

/// Returns how often the phrase occurs as whole words.
fn occurrences(text: &str, phrase: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(phrase)
        .filter(|(at, _)| {
            let before = text.get(..*at).and_then(|head| head.chars().next_back());
            let after = text.get(at + phrase.len()..).and_then(|tail| tail.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
        .count()
}

/// Returns the number of doc comments in a Rust file that have one line of at most four words.
fn fragments(file: &Source) -> usize {
    if file.path.extension().is_none_or(|kind| kind != "rs") {
        return 0;
    }
    let docs: Vec<Option<&str>> =
        file.text.lines().map(|line| line.trim_start().strip_prefix("///")).collect();
    let is_doc = |at: usize| docs.get(at).is_some_and(Option::is_some);
    docs.iter()
        .enumerate()
        .filter(|(at, line)| {
            line.is_some_and(|text| text.split_whitespace().count() <= FRAGMENT)
                && !is_doc(at + 1)
                && !at.checked_sub(1).is_some_and(is_doc)
        })
        .count()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The phrases and their allowed numbers, one a line: the number, a tab, the phrase.
    const TABLE: &str = "xtask/words.txt";

    #[test]
    fn counts_only_fall() {
        let root = crate::root();
        let path = root.join(TABLE);
        let table = fs::read_to_string(&path).unwrap();
        let counts = counts(&table, &files(&root));
        assert!(20 <= counts.len(), "{TABLE} has {} phrases", counts.len());
        let more: Vec<_> = counts.iter().filter(|count| count.allowed < count.found).collect();
        assert!(more.is_empty(), "say it in the field's terms: {more:#?}");
        let lower: String =
            counts.iter().map(|count| format!("{}\t{}\n", count.found, count.phrase)).collect();
        if std::env::var_os("EBB_UPDATE").is_some() {
            fs::write(&path, &lower).unwrap();
        } else {
            assert_eq!(table, lower, "counts have fallen: run this with EBB_UPDATE=1");
        }
    }

    #[test]
    fn phrases_are_found_as_whole_words_and_across_lines() {
        let text = "/// Tells what\n/// is left, and What Is: somewhat is, what isolates.\n///\n";
        let files = [Source { path: "a.rs".into(), text: text.into() }];
        let found = counts("1\twhat is\n0\tnobody\n", &files);
        assert_eq!(found.iter().map(|count| count.found).collect::<Vec<_>>(), [2, 0]);
    }

    #[test]
    fn short_doc_comments_are_counted_in_rust_alone() {
        let text = "/// Its store.\nstore: u8,\n/// One two\n/// lines.\nfn f() {}\n/// Returns the deadline in milliseconds.\n";
        let rust = Source { path: "a.rs".into(), text: text.into() };
        let page = Source { path: "a.md".into(), text: text.into() };
        let found = counts(&format!("0\t{FRAGMENTS}\n"), &[rust, page]);
        assert_eq!(found.first().map(|count| count.found), Some(1));
    }
}
