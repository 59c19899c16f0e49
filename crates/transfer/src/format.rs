//! File formats, and serialization of a document in each.

use document::DocRef;

use crate::{
    extended::{Style, write_document},
    table,
};

/// The format of documents in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// Canonical Extended JSON v2, one document per line; preserves types.
    Canonical,
    /// Relaxed Extended JSON v2, with readable numbers and dates.
    Relaxed,
    /// Plain JSON, one document per line; types without a JSON form become strings.
    Plain,
    /// CSV with these columns; without columns, the first line of the file names them.
    Csv(Vec<String>),
}

impl Format {
    /// Returns the name of the format as it is saved in the state of an unfinished run.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Canonical => "extended-json".to_owned(),
            Self::Relaxed => "extended-json, relaxed".to_owned(),
            Self::Plain => "jsonl".to_owned(),
            Self::Csv(columns) => format!("csv: {}", columns.join(",")),
        }
    }

    /// Returns the first bytes of a file: the header line of a table, otherwise nothing.
    pub(crate) fn head(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Csv(columns) => table::record(columns.iter().map(String::as_bytes)),
            _ => Ok(Vec::new()),
        }
    }

    /// Appends a document and a line break.
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
