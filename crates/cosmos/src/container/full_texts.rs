//! Full-text policies: the paths that contain text, and their indexes. This server has no full-text
//! search. Policies are validated as in Azure Cosmos DB, so that mistakes in a container's
//! definition are found before it is used with Azure Cosmos DB.

use document::{Document, Value};

use super::vectors::{entries_of, text_of};
use crate::failure::{Failure, Result};

/// Permitted languages of full-text paths; upper and lower case differ.
const LANGUAGES: [&str; 7] = ["en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-PT", "pt-BR"];

/// Refuses a default language, and a language of a path, that Azure Cosmos DB does not support.
pub(super) fn check_languages(body: &Document) -> Result<()> {
    let Some(Value::Document(policy)) = body.get("fullTextPolicy") else { return Ok(()) };
    let of_paths = entries_of(body, "fullTextPolicy", "fullTextPaths");
    let given = std::iter::once(policy.get("defaultLanguage"))
        .chain(of_paths.into_iter().map(|entry| entry.get("language")))
        .flatten()
        .filter(|language| !matches!(language, Value::Null));
    for language in given {
        let name = language.as_ref().as_str().unwrap_or_default();
        if !LANGUAGES.contains(&name) {
            return Err(Failure::bad_request(format!(
                "The Full Text Policy contains an unsupported language {name}."
            )));
        }
    }
    Ok(())
}

/// Refuses full-text indexes of paths that the full-text policy does not name, and paths that are
/// named twice.
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

/// Returns whether two definitions have equal full-text policies.
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
    use document::{array, doc};

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
    fn languages_are_those_of_the_service() {
        let policy = |default: Value, path: Value| {
            let entry = doc! { "path": "/t", "language": path };
            let policy = doc! { "defaultLanguage": default, "fullTextPaths": array![entry] };
            check_languages(&doc! { "fullTextPolicy": policy }).map_err(|failure| failure.text)
        };
        for language in LANGUAGES {
            assert!(policy(language.into(), language.into()).is_ok(), "{language}");
        }
        assert!(policy(Value::Null, Value::Null).is_ok());
        assert!(check_languages(&doc! {}).is_ok());
        for (default, path, named) in
            [("xx-YY", "en-US", "xx-YY"), ("en-US", "en-us", "en-us"), ("", "en-US", "")]
        {
            let text = policy(default.into(), path.into()).unwrap_err();
            let want = format!("The Full Text Policy contains an unsupported language {named}.");
            assert_eq!(text, want);
        }
        assert!(policy(1.into(), "en-US".into()).is_err());
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
