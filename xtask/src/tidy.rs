//! The form of source files: a header, no leftovers, limited lengths.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Number of lines above which a file needs an exception.
const LONG_FILE: usize = 400;
/// Maximum number of lines of a function. Longer ones are probably two.
const LONG_FUNCTION: usize = 80;

/// Files that may be above the limit, because they are lists or tables, with the reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// A source file, read into memory.
#[derive(Debug)]
pub struct Source {
    /// Path relative to the repository root.
    pub path: PathBuf,
    /// Content of the file as text.
    pub text: String,
}

impl Source {
    /// Returns the path relative to the repository root, with slashes.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().replace('\\', "/")
    }

    /// Returns whether the file consists of tests only, or its crate is never shipped.
    pub fn is_test(&self) -> bool {
        let name = self.name();
        let never_shipped =
            ["crates/fuzz-targets/", "crates/sim/", "crates/test-kit/", "crates/test-server/"];
        name.contains("/tests/")
            || name.ends_with("tests.rs")
            || name.ends_with("laws.rs")
            || never_shipped.iter().any(|folder| name.starts_with(folder))
    }

    /// Returns the text before the unit tests at the end.
    pub fn production_text(&self) -> &str {
        let end = self.text.find("#[cfg(test)]\nmod tests {").unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or_default()
    }

    /// Returns the number of lines before the unit tests at the end.
    fn production_lines(&self) -> usize {
        self.production_text().lines().count()
    }
}

/// Reads all Rust sources of the repository.
pub fn sources(root: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    for folder in ["crates", "xtask"] {
        collect(root, &root.join(folder), &["rs"], |path| path.ends_with("target"), &mut found);
    }
    found
}

/// Reads the files with one of the extensions `kinds` at or below `path`. Files and folders for
/// which `skipped` returns true are left out; `skipped` gets their paths relative to `root`.
pub(crate) fn collect(
    root: &Path,
    path: &Path,
    kinds: &[&str],
    skipped: fn(&Path) -> bool,
    found: &mut Vec<Source>,
) {
    let relative = path.strip_prefix(root).unwrap_or(path);
    if skipped(relative) {
        return;
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().filter_map(Result::ok) {
            collect(root, &entry.path(), kinds, skipped, found);
        }
    } else if path.extension().is_some_and(|kind| kinds.iter().any(|known| kind == *known)) {
        let text = fs::read_to_string(path).unwrap_or_default();
        found.push(Source { path: relative.to_path_buf(), text });
    }
}

/// Returns a message for each violation.
pub fn violations(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let name = source.name();
        if !source.text.starts_with("//!") {
            found.push(format!("{name} has no header"));
        }
        for word in ["FIXME", concat!("dbg", "!("), concat!("#[ign", "ore")] {
            if source.text.contains(word) && !name.ends_with("xtask/src/tidy.rs") {
                found.push(format!("{name} has a leftover {word}"));
            }
        }
        let reason = LONG_FILES.iter().any(|(listed, _)| *listed == name);
        if LONG_FILE < source.production_lines() && !reason && !source.is_test() {
            found.push(format!("{name} has {} lines", source.production_lines()));
        }
        found.extend(long_functions(source));
    }
    found
}

/// Returns a message for each function that is too long, based on the indentation of rustfmt's
/// output.
fn long_functions(source: &Source) -> Vec<String> {
    if source.is_test() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let lines: Vec<&str> = source.text.lines().collect();
    for (start, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let is_fn = [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "async fn ",
            "pub async fn ",
            "pub(crate) async fn ",
            "pub(super) async fn ",
            "const fn ",
        ]
        .iter()
        .any(|prefix| trimmed.starts_with(prefix));
        if !is_fn {
            continue;
        }
        let body = lines.iter().skip(start).take(20).find(|line| line.ends_with(['{', ';', '}']));
        if body.is_none_or(|line| !line.ends_with('{')) {
            continue;
        }
        let close = format!("{}}}", " ".repeat(indent));
        let len = lines.iter().skip(start).position(|line| *line == close).unwrap_or(0);
        if LONG_FUNCTION < len {
            let name = trimmed.split('(').next().unwrap_or_default();
            found.push(format!("{}: {name} has {len} lines", source.name()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_are_tidy() {
        let found = violations(&sources(&crate::root()));
        assert_eq!(found, Vec::<String>::new(), "{} violations", found.len());
    }

    #[test]
    fn violations_are_found() {
        let source = |path: &str, text: String| Source { path: path.into(), text };
        let long = format!("//! x\nfn f() {{\n{}}}\n", "    let _ = 1;\n".repeat(81));
        let sources = [
            source("crates/mongo/src/b.rs", "fn f() {}\n".into()),
            source("crates/mongo/src/c.rs", long),
            source("crates/mongo/src/d.rs", format!("//! x\n{}", "//\n".repeat(401))),
        ];
        let found = violations(&sources);
        for part in ["has no header", "has 82 lines", "has 402 lines"] {
            assert!(found.iter().any(|line| line.contains(part)), "{part}: {found:?}");
        }
    }
}
