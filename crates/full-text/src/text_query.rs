//! A search: words of which at least one has to occur, phrases that all have to occur, and words and
//! phrases that must not occur.
//!
//! ```text
//!  coffee shop          one of the words
//!  "coffee shop"        the phrase, within one text
//!  coffee -shop         not the second word
//!  coffee -"dark roast" not the phrase
//! ```
//!
//! The words depend on the language, and so on the index that the planner finds: a search is bound
//! to an index before it is evaluated.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use document::DocRef;
use evaluation::{Context, Error, Kind};

use crate::{
    Language, TextIndex,
    tokens::{Sensitivity, Tokenizer, WORK_PER_BYTE, fold},
};

/// Returns the error of a search without a text index.
pub fn no_text_index() -> Error {
    Error::new(Kind::Invalid, 27, "text index required for $text query")
}

/// Returns the error of a search that the text index cannot evaluate: a field before the texts has
/// no equality, or the index does not contain all matching documents.
pub fn unusable_text_index() -> Error {
    let message = "failed to use text index to satisfy $text query (if text index is compound, are \
                   equality predicates given for all prefix fields?)";
    Error::new(Kind::Invalid, 291, message)
}

/// Returns the error of a search in an `$or` with an alternative that no index serves.
pub fn unindexed_beside_text() -> Error {
    let message = "Failed to produce a solution for TEXT under OR - other non-TEXT clauses under \
                   OR have to be indexed as well.";
    Error::new(Kind::Invalid, 291, message)
}

/// Returns the error of a document with an array at a field beside the texts of an index.
pub fn array_beside_texts(path: &str) -> Error {
    let message = format!("cannot have a multi-key as a prefix to a text index: '{path}'");
    Error::new(Kind::Invalid, 16675, message)
}

/// A search for documents by the words of their texts.
#[derive(Debug)]
pub struct TextQuery {
    search: String,
    language: Option<Language>,
    sensitivity: Sensitivity,
    /// The search in the terms of an index.
    bound: OnceLock<BoundQuery>,
}

/// A search in the terms of an index.
#[derive(Debug)]
struct BoundQuery {
    index: Arc<TextIndex>,
    /// Words in the form in which the index has them.
    words: BTreeSet<String>,
    /// The words in the form in which they are compared; `None` if it is that of the index.
    exact_words: Option<BTreeSet<String>>,
    negated: BTreeSet<String>,
    phrases: Vec<String>,
    negated_phrases: Vec<String>,
}

impl TextQuery {
    /// Creates a search. `language` is that of the search; `None` means the language of the index.
    pub fn new(
        search: &str,
        language: Option<Language>,
        case_sensitive: bool,
        diacritic_sensitive: bool,
    ) -> Self {
        Self {
            search: search.to_owned(),
            language,
            sensitivity: Sensitivity { case: case_sensitive, diacritics: diacritic_sensitive },
            bound: OnceLock::new(),
        }
    }

    /// Binds the search to an index. Returns false if it is bound to an index with other rules.
    pub fn bind(&self, index: &TextIndex) -> bool {
        *self.bound.get_or_init(|| self.bound_to(index)).index == *index
    }

    /// Returns the words by which the index is read: every matching document has at least one of
    /// them. Empty if the search is not bound.
    pub fn index_words(&self) -> impl Iterator<Item = &str> {
        self.bound.get().into_iter().flat_map(|bound| bound.words.iter().map(String::as_str))
    }

    /// Returns whether exactly the documents match that have one of the index's words.
    pub fn is_answered_by_words(&self) -> bool {
        self.bound.get().is_some_and(|bound| {
            bound.exact_words.is_none()
                && bound.negated.is_empty()
                && bound.phrases.is_empty()
                && bound.negated_phrases.is_empty()
        })
    }

    /// Returns whether a document matches. Fails with 27 if the search is not bound to an index.
    pub fn matches(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        let bound = self.bound.get().ok_or_else(no_text_index)?;
        let wanted = bound.exact_words.as_ref().unwrap_or(&bound.words);
        let (mut has_word, mut phrases) = (false, vec![false; bound.phrases.len()]);
        for text in bound.index.texts(document)? {
            context.budget.spend(text.text.len() * WORK_PER_BYTE)?;
            let tokenizer = Tokenizer::new(text.language, self.sensitivity);
            for word in tokenizer.words(text.text) {
                if bound.negated.contains(&word) {
                    return Ok(false);
                }
                has_word |= wanted.contains(&word);
            }
            if phrases.is_empty() && bound.negated_phrases.is_empty() {
                continue;
            }
            let folded = fold(text.text, self.sensitivity);
            let searched = bound.phrases.len() + bound.negated_phrases.len();
            context.budget.spend(folded.len() * searched)?;
            if bound.negated_phrases.iter().any(|phrase| folded.contains(phrase)) {
                return Ok(false);
            }
            for (found, phrase) in phrases.iter_mut().zip(&bound.phrases) {
                *found |= folded.contains(phrase);
            }
        }
        Ok(has_word && phrases.into_iter().all(|found| found))
    }

    /// Returns the score of a document: the sum of the weights of the search's words. Fails with 27
    /// if the search is not bound to an index.
    pub fn score(&self, document: DocRef<'_>, context: &Context) -> Result<f64, Error> {
        let bound = self.bound.get().ok_or_else(no_text_index)?;
        let words = bound.index.words(document, context)?;
        Ok(bound.words.iter().filter_map(|word| words.get(word)).sum())
    }

    fn bound_to(&self, index: &TextIndex) -> BoundQuery {
        let language = self.language.unwrap_or(index.default_language);
        let parts = SearchParts::of(&self.search);
        let words = |text: &str, sensitivity| -> BTreeSet<String> {
            Tokenizer::new(language, sensitivity).words(text).collect()
        };
        let folded = |phrases: Vec<&str>| -> Vec<String> {
            phrases.into_iter().map(|phrase| fold(phrase, self.sensitivity)).collect()
        };
        let is_plain = self.sensitivity == Sensitivity::default();
        BoundQuery {
            index: Arc::new(index.clone()),
            words: words(&parts.words, Sensitivity::default()),
            exact_words: (!is_plain).then(|| words(&parts.words, self.sensitivity)),
            negated: words(&parts.negated, self.sensitivity),
            phrases: folded(parts.phrases),
            negated_phrases: folded(parts.negated_phrases),
        }
    }
}

/// The parts of a search string.
#[derive(Debug, Default, PartialEq, Eq)]
struct SearchParts<'a> {
    /// Words outside negations, separated by spaces, with those of phrases.
    words: String,
    negated: String,
    phrases: Vec<&'a str>,
    negated_phrases: Vec<&'a str>,
}

impl<'a> SearchParts<'a> {
    /// Divides a search string. A minus negates what follows it if it stands at the start or after
    /// white space; an unfinished phrase is only words.
    fn of(search: &'a str) -> Self {
        let mut parts = Self::default();
        let mut rest = search;
        let mut after_space = true;
        while let Some(first) = rest.chars().next() {
            if first.is_whitespace() {
                (rest, after_space) = (&rest[first.len_utf8()..], true);
                continue;
            }
            let negated = first == '-' && after_space;
            let body = if negated { &rest[1..] } else { rest };
            after_space = false;
            let phrase = body.strip_prefix('"').and_then(|body| body.split_once('"'));
            if let Some((phrase, behind)) = phrase {
                match negated {
                    true => parts.negated_phrases.push(phrase),
                    false => {
                        parts.phrases.push(phrase);
                        push_words(&mut parts.words, phrase);
                    }
                }
                rest = behind;
                continue;
            }
            let start = usize::from(body.starts_with('"'));
            let end = body[start..].find(|it: char| it.is_whitespace() || it == '"');
            let end = end.map_or(body.len(), |end| start + end);
            let target = if negated { &mut parts.negated } else { &mut parts.words };
            push_words(target, &body[start..end]);
            rest = &body[end..];
        }
        // An empty phrase asks for nothing.
        parts.phrases.retain(|phrase| !phrase.is_empty());
        parts.negated_phrases.retain(|phrase| !phrase.is_empty());
        parts
    }
}

fn push_words(text: &mut String, words: &str) {
    text.push(' ');
    text.push_str(words);
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    #[test]
    fn a_search_has_words_phrases_and_negations() {
        for (search, words, negated, phrases, negated_phrases) in [
            ("coffee shop", " coffee shop", "", vec![], vec![]),
            ("coffee -shop", " coffee", " shop", vec![], vec![]),
            ("well-known", " well-known", "", vec![], vec![]),
            ("\"dark roast\" x", " dark roast x", "", vec!["dark roast"], vec![]),
            ("a -\"b c\"d", " a d", "", vec![], vec!["b c"]),
            ("-\"", "", " ", vec![], vec![]),
            ("\"open word", " open word", "", vec![], vec![]),
            ("\"\" \"\"", "  ", "", vec![], vec![]),
            ("x\"y\"", " x y", "", vec!["y"], vec![]),
            ("", "", "", vec![], vec![]),
        ] {
            let parts = SearchParts::of(search);
            let want = SearchParts {
                words: words.into(),
                negated: negated.into(),
                phrases,
                negated_phrases,
            };
            assert_eq!(parts, want, "{search}");
        }
    }

    #[test]
    fn documents_match_a_bound_search() {
        let index = TextIndex {
            weights: vec![("a".into(), 1)],
            default_language: Language::English,
            language_override: "language".into(),
        };
        let check = |search: &str, case, diacritics, text: &str, want: bool| {
            let query = TextQuery::new(search, None, case, diacritics);
            let document = doc! { "a": text };
            let document = DocRef::Tree(&document);
            let unbound = query.matches(document, &Context::default());
            assert_eq!(unbound.unwrap_err().number, 27);
            assert!(query.bind(&index));
            let found = query.matches(document, &Context::default()).unwrap();
            assert_eq!(found, want, "{search} in {text}");
        };
        check("shops tea", false, false, "The Coffee Shop", true);
        check("tea", false, false, "The Coffee Shop", false);
        check("the", false, false, "The Coffee Shop", false);
        check("coffee -shop", false, false, "The Coffee Shop", false);
        check("-tea", false, false, "The Coffee Shop", false);
        check("\"coffee shop\"", false, false, "The COFFEE shop", true);
        check("\"shop coffee\"", false, false, "The COFFEE shop", false);
        check("coffee -\"coffee shop\"", false, false, "The COFFEE shop", false);
        check("Coffee", true, false, "The Coffee Shop", true);
        check("coffee", true, false, "The Coffee Shop", false);
        check("cafe", false, false, "Café", true);
        check("cafe", false, true, "Café", false);
        check("café", false, true, "Café", true);
        let other = TextIndex { default_language: Language::None, ..index.clone() };
        let query = TextQuery::new("x", None, false, false);
        assert!(query.bind(&index) && !query.bind(&other));
    }
}
