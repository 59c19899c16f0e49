//! Divides a text into words and reduces each to the form in which it is compared.

use std::borrow::Cow;

use rust_stemmers::Stemmer;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::{
    Language,
    stop_words::{self, StopWords},
};

/// Units of work charged per byte of text that is divided into words.
pub(crate) const WORK_PER_BYTE: usize = 32;

/// The differences between words that a search respects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sensitivity {
    /// Upper and lower case are different.
    pub(crate) case: bool,
    /// Letters with and without diacritics are different.
    pub(crate) diacritics: bool,
}

/// Reduces the words of one language.
pub(crate) struct Tokenizer {
    language: Language,
    stemmer: Option<Stemmer>,
    stop_words: Option<&'static StopWords>,
    sensitivity: Sensitivity,
}

impl Tokenizer {
    pub(crate) fn new(language: Language, sensitivity: Sensitivity) -> Self {
        let stop_words = stop_words::of(language);
        Self { language, stemmer: language.stemmer(), stop_words, sensitivity }
    }

    /// Iterates over the words of a text that are no stop words, in their reduced form.
    pub(crate) fn words<'t>(&'t self, text: &'t str) -> impl Iterator<Item = String> + 't {
        let delimits = |letter: char| is_delimiter(letter, self.language);
        let words = text.split(delimits).filter(|word| !word.is_empty());
        words.filter_map(|word| self.reduce(word))
    }

    /// Returns the reduced form of a word; `None` for a stop word.
    fn reduce(&self, word: &str) -> Option<String> {
        let lower = word.to_lowercase();
        // Stop words are compared without regard to case, but with their diacritics.
        if self.stop_words.is_some_and(|words| words.contains(lower.as_str())) {
            return None;
        }
        let word = if self.sensitivity.case { word.to_owned() } else { lower };
        let stem = match &self.stemmer {
            Some(stemmer) => stemmer.stem(&word).into_owned(),
            None => word,
        };
        Some(if self.sensitivity.diacritics {
            stem
        } else {
            without_diacritics(&stem).into_owned()
        })
    }
}

/// Returns a text in the form in which phrases are searched.
pub(crate) fn fold(text: &str, sensitivity: Sensitivity) -> String {
    let text = if sensitivity.case { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) };
    if sensitivity.diacritics { text.into_owned() } else { without_diacritics(&text).into_owned() }
}

fn without_diacritics(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfd().filter(|letter| !is_combining_mark(*letter)).collect())
}

/// Returns whether a character separates words: white space, punctuation and symbols, except for
/// the underscore and, in English, the apostrophe.
fn is_delimiter(letter: char, language: Language) -> bool {
    match letter {
        '_' => false,
        '\'' => language != Language::English,
        letter => !letter.is_alphanumeric() && !is_combining_mark(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, language: Language, sensitivity: Sensitivity) -> Vec<String> {
        Tokenizer::new(language, sensitivity).words(text).collect()
    }

    #[test]
    fn words_are_reduced_by_language() {
        let any = Sensitivity::default();
        for (text, language, want) in [
            ("The Coffee-shops are running", Language::English, vec!["coffe", "shop", "run"]),
            ("don't Bob's snake_case", Language::English, vec!["bob", "snake_cas"]),
            ("The Running", Language::None, vec!["the", "running"]),
            ("Die Häuser und Bäume", Language::German, vec!["haus", "baum"]),
            ("l'école très café", Language::French, vec!["ecol", "tres", "caf"]),
            ("Привет, мир", Language::None, vec!["привет", "мир"]),
            ("... - !", Language::English, vec![]),
        ] {
            assert_eq!(words(text, language, any), want, "{text}");
        }
    }

    #[test]
    fn case_and_diacritics_may_matter() {
        let both = Sensitivity { case: true, diacritics: true };
        assert_eq!(words("Café THE", Language::None, both), ["Café", "THE"]);
        assert_eq!(words("Café THE", Language::English, both), ["Café"]);
        assert_eq!(fold("Dark ROÁST", Sensitivity::default()), "dark roast");
        assert_eq!(fold("Dark", both), "Dark");
    }
}
