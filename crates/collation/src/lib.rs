//! Collations: orders of texts by the rules of a language. A collation compares texts, also those
//! inside documents and arrays, and makes keys whose bytes sort like the texts.
//!
//! ```text
//! {locale: "en", strength: 2}     "a" = "A" < "á" < "b"
//! {locale: "sv"}                  "z" < "ö"
//! {numeric_ordering: true}        "item2" < "item10"
//! ```
//!
//! The rules are those of CLDR, compiled into the program. Indexes store keys, so the version of
//! `icu_collator` is part of the format on disk (`docs/format.md`).

mod collator;
mod keyed;
mod locale;
mod options;

pub use collator::{Collation, Refusal, VERSION};
pub use keyed::contains_text;
pub use options::{Alternate, CaseFirst, MaxVariable, Options, Wanted};
