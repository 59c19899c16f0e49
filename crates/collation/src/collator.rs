//! A collation: its options and the comparison of texts by them.

use std::cmp::Ordering;

use document::{Document, ValueRef, compare_with_texts};
use icu_collator::{
    Collator, CollatorBorrowed, CollatorPreferences,
    options::{AlternateHandling, CaseLevel, CollatorOptions, MaxVariable as Shifted, Strength},
    preferences::{CollationCaseFirst, CollationNumericOrdering},
};
use icu_locale_core::Locale;

use crate::{
    locale::{Found, find_locale, is_backwards, tag_for_direction},
    options::{Alternate, CaseFirst, MaxVariable, Options, Wanted},
};

/// The version of rules that documents of options name. Clients of other servers expect this one;
/// it is the only one accepted.
pub const VERSION: &str = "57.1";

/// Reason why there is no collation with the wanted options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The locale is unknown; the text names a supported locale that is close to it.
    UnknownLocale(Option<&'static str>),
    /// The variant of the locale is not supported.
    MissingVariant,
    /// The locale has no rules that compare accents in the wanted direction.
    Direction,
    /// The strength is not 1 to 5.
    Strength,
    /// `backwards` has no meaning at strength 1.
    BackwardsAtPrimary,
    /// `case_first` has no meaning without a comparison of case.
    CaseFirstWithoutCase,
}

/// An order of texts by the rules of a language.
pub struct Collation {
    options: Options,
    collator: CollatorBorrowed<'static>,
}

impl std::fmt::Debug for Collation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.options.fmt(f)
    }
}

impl PartialEq for Collation {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Eq for Collation {}

impl Collation {
    /// Creates the collation with these options; options that are not given are those of the
    /// locale.
    pub fn new(wanted: &Wanted) -> Result<Self, Refusal> {
        let tag = match find_locale(&wanted.locale) {
            Found::Tag(tag) => tag,
            Found::Missing => return Err(Refusal::MissingVariant),
            Found::Unknown(close) => return Err(Refusal::UnknownLocale(close)),
        };
        let strength = match wanted.strength {
            None | Some(3) => Strength::Tertiary,
            Some(1) => Strength::Primary,
            Some(2) => Strength::Secondary,
            Some(4) => Strength::Quaternary,
            Some(5) => Strength::Identical,
            Some(_) => return Err(Refusal::Strength),
        };
        let backwards = wanted.backwards.unwrap_or_else(|| is_backwards(&wanted.locale));
        let tag = tag_for_direction(&wanted.locale, tag, backwards).ok_or(Refusal::Direction)?;
        let unknown = Refusal::UnknownLocale(None);
        let locale = Locale::try_from_str(&tag).map_err(|_| unknown.clone())?;
        let mut preferences = CollatorPreferences::from(&locale);
        preferences.case_first = wanted.case_first.map(|first| match first {
            CaseFirst::Upper => CollationCaseFirst::Upper,
            CaseFirst::Lower => CollationCaseFirst::Lower,
            CaseFirst::Off => CollationCaseFirst::False,
        });
        preferences.numeric_ordering = Some(match wanted.numeric_ordering {
            Some(true) => CollationNumericOrdering::True,
            _ => CollationNumericOrdering::False,
        });
        let mut options = CollatorOptions::default();
        options.strength = Some(strength);
        options.case_level =
            wanted.case_level.map(|on| if on { CaseLevel::On } else { CaseLevel::Off });
        options.alternate_handling = wanted.alternate.map(|alternate| match alternate {
            Alternate::NonIgnorable => AlternateHandling::NonIgnorable,
            Alternate::Shifted => AlternateHandling::Shifted,
        });
        options.max_variable = wanted.max_variable.map(|most| match most {
            MaxVariable::Punct => Shifted::Punctuation,
            MaxVariable::Space => Shifted::Space,
        });
        let collator = Collator::try_new(preferences, options).map_err(|_| unknown)?;
        let options = resolved_options(wanted, &collator, backwards);
        if options.backwards && options.strength == 1 {
            return Err(Refusal::BackwardsAtPrimary);
        }
        if options.case_first != CaseFirst::Off && !options.case_level && options.strength < 3 {
            return Err(Refusal::CaseFirstWithoutCase);
        }
        Ok(Self { options, collator })
    }

    /// Returns the collation whose options [`to_document`](Self::to_document) returned; `None` for
    /// any other document.
    pub fn of_document(document: &Document) -> Option<Self> {
        Self::new(&Wanted::of_document(document)?).ok()
    }

    /// Returns all options, given or not.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns a document of all options.
    pub fn to_document(&self) -> Document {
        self.options.to_document(VERSION)
    }

    /// Compares two texts by the collation.
    pub fn compare_texts(&self, a: &str, b: &str) -> Ordering {
        self.collator.compare(a, b)
    }

    /// Compares two values; texts, also those inside documents and arrays, compare by the
    /// collation.
    pub fn compare(&self, a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
        compare_with_texts(a, b, &|a: &str, b: &str| self.collator.compare(a, b))
    }

    /// Appends the sort key of a text. The bytes of keys compare as the texts do.
    pub(crate) fn push_sort_key(&self, text: &str, out: &mut Vec<u8>) {
        let Ok(()) = self.collator.write_sort_key_to(text, out);
    }
}

/// Returns all options of a collator: the wanted ones, else those of its rules.
fn resolved_options(
    wanted: &Wanted,
    collator: &CollatorBorrowed<'static>,
    backwards: bool,
) -> Options {
    let found = collator.resolved_options();
    Options {
        locale: wanted.locale.clone(),
        case_level: found.case_level == CaseLevel::On,
        case_first: match found.case_first {
            CollationCaseFirst::Upper => CaseFirst::Upper,
            CollationCaseFirst::Lower => CaseFirst::Lower,
            _ => CaseFirst::Off,
        },
        strength: wanted.strength.unwrap_or(3),
        numeric_ordering: wanted.numeric_ordering.unwrap_or(false),
        alternate: match found.alternate_handling {
            AlternateHandling::Shifted => Alternate::Shifted,
            _ => Alternate::NonIgnorable,
        },
        max_variable: match found.max_variable {
            Shifted::Space => MaxVariable::Space,
            _ => MaxVariable::Punct,
        },
        normalization: wanted.normalization.unwrap_or(false),
        backwards,
    }
}
