//! Which formats there are, and a document as bytes of one of them.

use document::DocRef;

use crate::{
    extended::{Style, write_document},
    table,
};

/// How documents are written into a file, and read from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// Extended JSON v2, a document a line, in its canonical form: types survive.
    Canonical,
    /// The same in its relaxed form: numbers and dates as people read them.
    Relaxed,
    /// JSON as it is, a document a line: what JSON has no form for is a text.
    Plain,
    /// A table with these columns; with none, those of its first line.
    Csv(Vec<String>),
}

impl Format {
    /// The word for it, which the state of an unfinished run keeps.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Canonical => "extended-json".to_owned(),
            Self::Relaxed => "extended-json, relaxed".to_owned(),
            Self::Plain => "jsonl".to_owned(),
            Self::Csv(columns) => format!("csv: {}", columns.join(",")),
        }
    }

    /// What a file begins with.
    pub(crate) fn head(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Csv(columns) => table::record(columns.iter().map(String::as_bytes)),
            _ => Ok(Vec::new()),
        }
    }

    /// Appends a document, with the end of its line.
    pub(crate) fn append(&self, document: DocRef<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        let style = match self {
            Self::Canonical => Style::Canonical,
            Self::Relaxed => Style::Relaxed,
            Self::Plain => Style::Plain,
            Self::Csv(columns) => {
                out.extend_from_slice(&table::row(columns, document)?);
                return Ok(());
            }
        };
        write_document(document, style, out);
        out.push(b'\n');
        Ok(())
    }
}
