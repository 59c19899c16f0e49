//! The texts of a document that an index covers, and the weights of their words.

use std::collections::BTreeMap;

use document::{DocRef, ValueRef};
use evaluation::{Context, Error, Kind};

use crate::{
    Language,
    tokens::{Sensitivity, Tokenizer, WORK_PER_BYTE},
};

/// The path of all texts of a document.
pub const ALL_PATHS: &str = "$**";
/// Maximum number of different words of a document. It limits the entries of an index and the
/// memory of a search.
const MAX_WORDS: usize = 100_000;
/// The texts that an index covers, and the rules by which they are split into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextIndex {
    /// Weights by path; [`ALL_PATHS`] stands for all other paths.
    pub weights: Vec<(String, u32)>,
    /// Language of texts whose documents name none.
    pub default_language: Language,
    /// Name of the field by which a document, or one inside it, names its language.
    pub language_override: String,
}

/// One text of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundText<'a> {
    pub(crate) text: &'a str,
    pub(crate) weight: u32,
    pub(crate) language: Language,
}

/// Occurrences of a word in one text.
#[derive(Default)]
struct Occurrences {
    count: u32,
    /// Sum of 1, 1/2, 1/4, …: each further occurrence counts half as much.
    frequency: f64,
    step: f64,
}

impl TextIndex {
    /// Returns the words of a document with their weights. Fails if a language is unknown, if there
    /// are more than [`MAX_WORDS`] words, or if the operation must end.
    pub fn words(
        &self,
        document: DocRef<'_>,
        context: &Context,
    ) -> Result<BTreeMap<String, f64>, Error> {
        let mut found: BTreeMap<String, f64> = BTreeMap::new();
        for text in self.texts(document)? {
            context.budget.spend(text.text.len() * WORK_PER_BYTE)?;
            let tokenizer = Tokenizer::new(text.language, Sensitivity::default());
            let mut words: BTreeMap<String, Occurrences> = BTreeMap::new();
            let mut total = 0_u32;
            for word in tokenizer.words(text.text) {
                let held = words.entry(word).or_default();
                held.step = if held.count == 0 { 1.0 } else { held.step * 2.0 };
                held.count += 1;
                held.frequency += 1.0 / held.step;
                total += 1;
                check_count(found.len().max(words.len()))?;
            }
            for (word, held) in words {
                // A word counts more in a short text, and as the whole text.
                let share = 0.5 * f64::from(held.count) / f64::from(total) + 0.5;
                let whole = if text.text.eq_ignore_ascii_case(&word) { 1.1 } else { 1.0 };
                let weight = f64::from(text.weight) * held.frequency * share * whole;
                *found.entry(word).or_default() += weight;
                check_count(found.len())?;
            }
        }
        Ok(found)
    }

    /// Returns the texts of a document that the index covers.
    pub(crate) fn texts<'a>(&self, document: DocRef<'a>) -> Result<Vec<FoundText<'a>>, Error> {
        let mut walk = Walk { index: self, path: String::new(), found: Vec::new() };
        walk.fields(document, self.default_language)?;
        Ok(walk.found)
    }

    /// Returns the weight of texts at a path; `None` if they are not covered.
    fn weight_of(&self, path: &str) -> Option<u32> {
        let weight = |wanted: &str| {
            self.weights.iter().find(|(path, _)| path == wanted).map(|(_, weight)| *weight)
        };
        weight(path).or_else(|| weight(ALL_PATHS))
    }

    /// Returns whether texts below a path may be covered.
    fn may_cover_below(&self, path: &str) -> bool {
        self.weights.iter().any(|(covered, _)| {
            covered == ALL_PATHS
                || covered.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
        })
    }
}

fn check_count(words: usize) -> Result<(), Error> {
    if MAX_WORDS < words {
        let message = format!("a document has more than {MAX_WORDS} words in a text index");
        return Err(Error::new(Kind::TooLarge, 10334, message));
    }
    Ok(())
}

/// The traversal of a document, whose depth is limited by that of valid documents.
struct Walk<'w, 'a> {
    index: &'w TextIndex,
    path: String,
    found: Vec<FoundText<'a>>,
}

impl<'a> Walk<'_, 'a> {
    fn fields(&mut self, document: DocRef<'a>, outer: Language) -> Result<(), Error> {
        let language = match document.get(&self.index.language_override) {
            None => outer,
            Some(ValueRef::String(name)) => Language::named(name).ok_or_else(|| {
                let message = format!("language override unsupported: {name}");
                Error::new(Kind::Invalid, 17262, message)
            })?,
            Some(_) => {
                let message = "found language override field in document with non-string type";
                return Err(Error::new(Kind::Invalid, 17261, message));
            }
        };
        for (name, value) in document.iter() {
            if name == self.index.language_override {
                continue;
            }
            let len = self.path.len();
            if 0 < len {
                self.path.push('.');
            }
            self.path.push_str(name);
            self.value(value, language)?;
            self.path.truncate(len);
        }
        Ok(())
    }

    fn value(&mut self, value: ValueRef<'a>, language: Language) -> Result<(), Error> {
        match value {
            ValueRef::String(text) => {
                if let Some(weight) = self.index.weight_of(&self.path) {
                    self.found.push(FoundText { text, weight, language });
                }
                Ok(())
            }
            ValueRef::Document(inner) if self.index.may_cover_below(&self.path) => {
                self.fields(inner, language)
            }
            ValueRef::Array(values) => {
                values.iter().try_for_each(|element| self.value(element, language))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use document::{Document, array, doc};

    use super::*;

    fn index(weights: &[(&str, u32)]) -> TextIndex {
        TextIndex {
            weights: weights.iter().map(|(path, weight)| ((*path).into(), *weight)).collect(),
            default_language: Language::English,
            language_override: "language".into(),
        }
    }

    fn words(index: &TextIndex, document: &Document) -> Vec<(String, f64)> {
        let found = index.words(DocRef::Tree(document), &Context::default()).unwrap();
        found.into_iter().collect()
    }

    #[test]
    fn weights_follow_the_formula() {
        let one = index(&[("a", 1)]);
        for (text, want) in [
            ("coffee", vec![("coffe", 1.0)]),
            ("run", vec![("run", 1.1)]),
            ("coffee shop", vec![("coffe", 0.75), ("shop", 0.75)]),
            ("coffee coffee shop", vec![("coffe", 1.5 * (1.0 / 3.0 + 0.5)), ("shop", 2.0 / 3.0)]),
        ] {
            let found = words(&one, &doc! { "a": text });
            assert_eq!(found.len(), want.len());
            for ((word, weight), (want_word, want_weight)) in found.iter().zip(want) {
                assert_eq!(word, want_word);
                assert!((weight - want_weight).abs() < 1e-12, "{text}: {weight} {want_weight}");
            }
        }
        assert_eq!(words(&index(&[("a", 10)]), &doc! { "a": "coffee" })[0].1, 10.0);
    }

    #[test]
    fn texts_are_found_at_the_paths_of_the_index() {
        let document = doc! {
            "a": array!["one", doc! { "b": "two" }, 3],
            "c": doc! { "d": "three", "language": "none", "e": "running" },
            "f": "four",
        };
        let texts = |weights| {
            let index = index(weights);
            let found = index.texts(DocRef::Tree(&document)).unwrap();
            let shown =
                |it: FoundText<'_>| format!("{} {} {}", it.text, it.weight, it.language.name());
            found.into_iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(texts(&[("a", 1)]), ["one 1 english"]);
        assert_eq!(texts(&[("a.b", 2), ("c.e", 3)]), ["two 2 english", "running 3 none"]);
        let all =
            ["one 1 english", "two 1 english", "three 5 none", "running 1 none", "four 1 english"];
        assert_eq!(texts(&[("$**", 1), ("c.d", 5)]), all);
        let odd = doc! { "a": "x", "language": "klingon" };
        let refused = index(&[("a", 1)]).words(DocRef::Tree(&odd), &Context::default());
        assert_eq!(refused.unwrap_err().number, 17262);
    }

    #[test]
    fn a_document_has_so_many_words() {
        let text: String = (0..=MAX_WORDS).map(|at| format!("w{at} ")).collect();
        let refused =
            index(&[("a", 1)]).words(DocRef::Tree(&doc! { "a": text }), &Context::default());
        assert_eq!(refused.unwrap_err().kind, Kind::TooLarge);
    }
}
