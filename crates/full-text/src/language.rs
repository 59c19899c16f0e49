//! The languages of texts: how words are reduced to their stems and which are left out.

use rust_stemmers::{Algorithm, Stemmer};

/// The language of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// No stemming and no stop words.
    None,
    /// Danish, stemmed by its Snowball algorithm.
    Danish,
    /// Dutch, stemmed by its Snowball algorithm.
    Dutch,
    /// English, which MongoDB assumes where nothing else is given.
    #[default]
    English,
    /// Finnish, stemmed by its Snowball algorithm.
    Finnish,
    /// French, stemmed by its Snowball algorithm.
    French,
    /// German, stemmed by its Snowball algorithm.
    German,
    /// Hungarian, stemmed by its Snowball algorithm.
    Hungarian,
    /// Italian, stemmed by its Snowball algorithm.
    Italian,
    /// Norwegian, stemmed by its Snowball algorithm.
    Norwegian,
    /// Portuguese, stemmed by its Snowball algorithm.
    Portuguese,
    /// Romanian, stemmed by its Snowball algorithm.
    Romanian,
    /// Russian, stemmed by its Snowball algorithm.
    Russian,
    /// Spanish, stemmed by its Snowball algorithm.
    Spanish,
    /// Swedish, stemmed by its Snowball algorithm.
    Swedish,
    /// Turkish, stemmed by its Snowball algorithm.
    Turkish,
}

/// The languages with their names and codes of ISO 639-1.
const NAMES: &[(Language, &str, &str)] = &[
    (Language::None, "none", "none"),
    (Language::Danish, "danish", "da"),
    (Language::Dutch, "dutch", "nl"),
    (Language::English, "english", "en"),
    (Language::Finnish, "finnish", "fi"),
    (Language::French, "french", "fr"),
    (Language::German, "german", "de"),
    (Language::Hungarian, "hungarian", "hu"),
    (Language::Italian, "italian", "it"),
    (Language::Norwegian, "norwegian", "nb"),
    (Language::Portuguese, "portuguese", "pt"),
    (Language::Romanian, "romanian", "ro"),
    (Language::Russian, "russian", "ru"),
    (Language::Spanish, "spanish", "es"),
    (Language::Swedish, "swedish", "sv"),
    (Language::Turkish, "turkish", "tr"),
];

impl Language {
    /// Returns the language with this name or code, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let is_named = |known: &str| known.eq_ignore_ascii_case(name);
        let found = NAMES.iter().find(|(_, full, code)| is_named(full) || is_named(code));
        found.map(|(language, ..)| *language)
    }

    /// Returns the name of the language.
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(language, ..)| *language == self);
        found.map_or("none", |(_, name, _)| name)
    }

    /// Returns the stemmer of the language; `None` if words are kept whole.
    pub(crate) fn stemmer(self) -> Option<Stemmer> {
        let algorithm = match self {
            Self::None => return None,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::English => Algorithm::English,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Turkish => Algorithm::Turkish,
        };
        Some(Stemmer::create(algorithm))
    }
}
