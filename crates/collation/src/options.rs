//! The options of a collation, and their form as a document, in which all are given.

use document::{Document, Number, Value, doc};

/// Letter case that sorts first among texts that differ only in case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseFirst {
    /// Upper case sorts before lower case.
    Upper,
    /// Lower case sorts before upper case.
    Lower,
    /// The order of the language, which for most is lower case first.
    Off,
}

/// Whether spaces and punctuation are compared like letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternate {
    /// They are compared like letters.
    NonIgnorable,
    /// They are ignored, except at strength 4 and 5.
    Shifted,
}

/// The characters that [`Alternate::Shifted`] ignores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxVariable {
    /// Spaces and punctuation are ignored.
    Punct,
    /// Spaces are ignored, punctuation is not.
    Space,
}

impl CaseFirst {
    /// All values, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Upper, Self::Lower, Self::Off];

    /// Returns the name of the value in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Off => "off",
        }
    }
}

impl Alternate {
    /// All values, in the order of the documentation.
    pub const ALL: [Self; 2] = [Self::NonIgnorable, Self::Shifted];

    /// Returns the name of the value in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::NonIgnorable => "non-ignorable",
            Self::Shifted => "shifted",
        }
    }
}

impl MaxVariable {
    /// All values, in the order of the documentation.
    pub const ALL: [Self; 2] = [Self::Punct, Self::Space];

    /// Returns the name of the value in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Punct => "punct",
            Self::Space => "space",
        }
    }
}

/// The options that a request gives; the language determines the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Name of the locale, such as `en_US`.
    pub locale: String,
    /// Whether texts that differ in case differ even at strength 1 and 2.
    pub case_level: Option<bool>,
    /// Letter case that sorts first; `None` for the rule of the locale.
    pub case_first: Option<CaseFirst>,
    /// The least significant difference that counts: 1 base letters, 2 accents, 3 case, 4
    /// punctuation, 5 code points.
    pub strength: Option<u8>,
    /// Whether sequences of digits sort by their numeric value.
    pub numeric_ordering: Option<bool>,
    /// Whether spaces and punctuation are compared like letters.
    pub alternate: Option<Alternate>,
    /// The characters that `alternate` concerns.
    pub max_variable: Option<MaxVariable>,
    /// Whether texts are normalized before they are compared. They always are; the option is only
    /// kept.
    pub normalization: Option<bool>,
    /// Whether accents are compared from the end of the text.
    pub backwards: Option<bool>,
}

/// All options of a collation. Two collations with the same options are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of the locale, such as `en_US`.
    pub locale: String,
    /// Whether texts that differ in case differ even at strength 1 and 2.
    pub case_level: bool,
    /// The case that sorts first among equal letters.
    pub case_first: CaseFirst,
    /// The least significant difference that counts, from 1 to 5.
    pub strength: u8,
    /// Whether sequences of digits sort by their numeric value.
    pub numeric_ordering: bool,
    /// Whether spaces and punctuation are compared like letters.
    pub alternate: Alternate,
    /// The characters that `alternate` concerns, if they are not letters.
    pub max_variable: MaxVariable,
    /// Whether the request has `normalization`, which is always done.
    pub normalization: bool,
    /// Whether accents are compared from the end of the text.
    pub backwards: bool,
}

impl Options {
    /// Returns the document of these options, with `version` as its last field.
    pub(crate) fn to_document(&self, version: &str) -> Document {
        doc! {
            "locale": self.locale.as_str(),
            "caseLevel": self.case_level,
            "caseFirst": self.case_first.name(),
            "strength": i32::from(self.strength),
            "numericOrdering": self.numeric_ordering,
            "alternate": self.alternate.name(),
            "maxVariable": self.max_variable.name(),
            "normalization": self.normalization,
            "backwards": self.backwards,
            "version": version,
        }
    }
}

impl Wanted {
    /// Reads the document of a collation's options; `None` if a field has another type or value.
    pub(crate) fn of_document(document: &Document) -> Option<Self> {
        let flag = |name: &str| match document.get(name)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        };
        let text = |name: &str| match document.get(name)? {
            Value::String(value) => Some(value.as_str()),
            _ => None,
        };
        let strength = Number::of(document.get("strength")?.as_ref())?.to_i64_exact()?;
        Some(Self {
            locale: text("locale")?.to_owned(),
            case_level: Some(flag("caseLevel")?),
            case_first: Some(named(text("caseFirst")?, &CaseFirst::ALL, CaseFirst::name)?),
            strength: Some(u8::try_from(strength).ok()?),
            numeric_ordering: Some(flag("numericOrdering")?),
            alternate: Some(named(text("alternate")?, &Alternate::ALL, Alternate::name)?),
            max_variable: Some(named(text("maxVariable")?, &MaxVariable::ALL, MaxVariable::name)?),
            normalization: Some(flag("normalization")?),
            backwards: Some(flag("backwards")?),
        })
    }
}

/// Returns the value with this name.
fn named<T: Copy>(name: &str, all: &[T], name_of: fn(T) -> &'static str) -> Option<T> {
    all.iter().copied().find(|value| name_of(*value) == name)
}
