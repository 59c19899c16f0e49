//! Full-text policies: which paths contain text, and their indexes. There is no full-text search
//! here; policies are validated like in the service, so that mistakes in a template are found.

use document::Document;

use super::vectors::{entries_of, text_of};
use crate::failure::{Failure, Result};

/// Refuses full-text indexes on paths that are not in the full-text policy, and duplicate paths.
pub(super) fn check_full_texts(body: &Document) -> Result<()> {
    let texts = paths_of(body, "fullTextPolicy", "fullTextPaths");
    let indexes = paths_of(body, "indexingPolicy", "fullTextIndexes");
    for (what, paths) in [("Full Text Policy", &texts), ("Full Text Indexing Policy", &indexes)] {
        let twice = paths
            .iter()
            .enumerate()
            .find(|(at, path)| paths.iter().take(*at).any(|before| before == *path));
        if let Some((_, path)) = twice {
            return Err(Failure::bad_request(format!(
                "The {what} has the path '{path}' more than once."
            )));
        }
    }
    match indexes.iter().find(|path| !texts.contains(path)) {
        None => Ok(()),
        Some(path) => Err(Failure::bad_request(format!(
            "The Full Text Indexing Policy's path::{path} not matching in Full Text Policy's path."
        ))),
    }
}

/// Whether two definitions have equal full-text policies.
pub(super) fn same_full_texts(new: &Document, held: &Document) -> bool {
    [("fullTextPolicy", "fullTextPaths"), ("indexingPolicy", "fullTextIndexes")]
        .into_iter()
        .all(|(policy, list)| paths_of(new, policy, list) == paths_of(held, policy, list))
}

/// Returns the paths in an array of a policy.
fn paths_of<'a>(body: &'a Document, policy: &str, list: &str) -> Vec<&'a str> {
    entries_of(body, policy, list).into_iter().map(|entry| text_of(entry, "path")).collect()
}

#[cfg(test)]
mod tests {
    use document::{Value, array, doc};

    use super::*;

    fn body(texts: &[&str], indexes: &[&str]) -> Document {
        let entries = |paths: &[&str]| {
            Value::Array(paths.iter().map(|path| doc! { "path": *path }.into()).collect())
        };
        doc! {
            "fullTextPolicy": doc! { "defaultLanguage": "en-US", "fullTextPaths": entries(texts) },
            "indexingPolicy": doc! { "fullTextIndexes": entries(indexes) },
        }
    }

    #[test]
    fn indexes_need_a_policy_that_names_their_paths() {
        for (texts, indexes, right) in [
            (&[][..], &[][..], true),
            (&["/t"], &[], true),
            (&["/t", "/u"], &["/u"], true),
            (&[], &["/t"], false),
            (&["/t"], &["/u"], false),
            (&["/t", "/t"], &[], false),
            (&["/t"], &["/t", "/t"], false),
        ] {
            let checked = check_full_texts(&body(texts, indexes));
            assert_eq!(checked.is_ok(), right, "{texts:?} {indexes:?}");
        }
        let without = doc! {
            "indexingPolicy": doc! { "fullTextIndexes": array![doc! { "path": "/t" }] },
        };
        let text = check_full_texts(&without).unwrap_err().text;
        assert!(text.contains("path::/t not matching"), "{text}");
    }
}
