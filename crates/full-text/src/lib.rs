//! Text search as MongoDB defines it: how a text is divided into words, the weights of a document's
//! words, and which documents a search matches. The caller finds candidates by an index of the
//! words; everything here is a function of one document.
//!
//! ```text
//!  text ──▶ words ──▶ not a stop word ──▶ stem ──▶ without diacritics      tokens
//!  document ──▶ texts at the indexed paths ──▶ words with weights         text_index
//!  search "coffee -shop \"dark roast\"" ──▶ words, negated words, phrases     text_query
//! ```

mod language;
mod stop_words;
mod text_index;
mod text_query;
mod tokens;

pub use language::Language;
pub use text_index::{ALL_PATHS, TextIndex};
pub use text_query::{
    TextQuery, array_beside_texts, no_text_index, unindexed_beside_text, unusable_text_index,
};
