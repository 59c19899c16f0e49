//! Reads a file as documents or errors, each with its position. Memory use is bounded for any
//! contents of the file.

use std::{
    cell::Cell,
    io::{self, Read},
    path::Path,
    rc::Rc,
};

use document::DocBuf;

use crate::{
    extended::{Reading, parse_document},
    format::Format,
    table::Columns,
    texts::{FilePosition, KEPT_LINE_BYTES, MAX_LINE_BYTES, Text, Texts, open_at},
};

/// Maximum size of a table record.
const MAX_RECORD_BYTES: u64 = 64 * 1024 * 1024;

/// A document in an input file: a JSON text, or a record of a table.
#[derive(Debug)]
pub(crate) struct Item {
    /// Line number at the start of the item, from 1.
    pub(crate) line: u64,
    /// Position of the next item in the file.
    pub(crate) next: FilePosition,
    /// The document, or the reason why it is invalid and the invalid text.
    pub(crate) document: Result<DocBuf, (String, Vec<u8>)>,
}

/// Documents that an import sends in one request, and the position in the file after them.
pub(crate) struct Batch {
    pub(crate) items: Vec<Item>,
    pub(crate) next: FilePosition,
    /// Reason why the rest of the file after the batch cannot be read; `None` if it can be read.
    pub(crate) broken: Option<String>,
}

/// Rules by which the texts in a table's fields are converted to values.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableRules {
    /// Whether column names have a type suffix.
    pub typed: bool,
    /// Whether fields with empty texts are omitted from documents.
    pub ignore_blanks: bool,
}

pub(crate) enum Input {
    /// JSON, with one document per text.
    Texts(Texts, Reading),
    Table(Box<Table>),
}

impl Input {
    /// Opens a file at a position, or standard input if there is no path.
    pub(crate) fn open(
        path: Option<&Path>,
        format: &Format,
        rules: TableRules,
        from: FilePosition,
    ) -> Result<Self, String> {
        let reading = match format {
            Format::Csv(columns) => {
                return Table::open(path, columns, rules, from).map(|it| Self::Table(Box::new(it)));
            }
            Format::Plain => Reading::Plain,
            Format::Canonical | Format::Relaxed => Reading::Extended,
        };
        Ok(Self::Texts(Texts::open(path, from)?, reading))
    }

    /// Returns the next item. An error means that reading failed and cannot continue.
    pub(crate) fn next_item(&mut self) -> Result<Option<Item>, String> {
        match self {
            Self::Texts(texts, reading) => Ok(texts.next_text()?.map(|it| item(it, *reading))),
            Self::Table(table) => table.next_item(),
        }
    }
}

/// Parses the document of a text.
fn item(text: Text, reading: Reading) -> Item {
    let Text { line, next, bytes, is_complete } = text;
    let document = match is_complete {
        true => parse_document(&bytes, reading),
        false => Err(format!("the document is longer than {} MiB", MAX_LINE_BYTES >> 20)),
    };
    let kept = bytes.get(..KEPT_LINE_BYTES).unwrap_or(&bytes);
    Item { line, next, document: document.map_err(|reason| (reason, kept.to_vec())) }
}

/// The records of a table.
pub(crate) struct Table {
    reader: csv::Reader<Bounded>,
    columns: Columns,
    record: csv::ByteRecord,
    /// Position in the file at which `reader` started.
    base: FilePosition,
    taken: Rc<Cell<u64>>,
}

/// A reader that fails if a record of a table is longer than the maximum.
struct Bounded {
    input: Box<dyn Read>,
    taken: Rc<Cell<u64>>,
}

impl Read for Bounded {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if MAX_RECORD_BYTES < self.taken.get() {
            let most = MAX_RECORD_BYTES >> 20;
            return Err(io::Error::other(format!(
                "a record is longer than {most} MiB: is a quote missing?"
            )));
        }
        let count = self.input.read(bytes)?;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

fn reader(input: Box<dyn Read>) -> (csv::Reader<Bounded>, Rc<Cell<u64>>) {
    let taken = Rc::new(Cell::new(0));
    let bounded = Bounded { input, taken: taken.clone() };
    // The header is read as a record, too. Records may have any number of fields, so that a wrong
    // number is reported with its line.
    let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bounded);
    (reader, taken)
}

impl Table {
    fn open(
        path: Option<&Path>,
        names: &[String],
        rules: TableRules,
        from: FilePosition,
    ) -> Result<Self, String> {
        let columns = |names: &[String]| Columns::new(names, rules.typed, rules.ignore_blanks);
        let record = csv::ByteRecord::new();
        if !names.is_empty() {
            let (reader, taken) = reader(open_at(path, from.offset)?);
            return Ok(Self { reader, columns: columns(names)?, record, base: from, taken });
        }
        let (reader, taken) = reader(open_at(path, 0)?);
        let columns = Columns::new(&["_".to_owned()], false, false)?;
        let mut table = Self { reader, columns, record, base: FilePosition::START, taken };
        if !table.read_record()? {
            return Err("the table has no header line: give its columns with --fields".to_owned());
        }
        let names: Result<Vec<String>, String> = table.record.iter().map(name_of).collect();
        let columns = Columns::new(&names?, rules.typed, rules.ignore_blanks)?;
        table.columns = columns;
        if from != FilePosition::START {
            let (reader, taken) = self::reader(open_at(path, from.offset)?);
            table = Self { reader, taken, base: from, ..table };
        }
        Ok(table)
    }

    /// Returns the position of the reader.
    fn place(&self) -> FilePosition {
        let at = self.reader.position();
        FilePosition { offset: self.base.offset + at.byte(), line: self.base.line + at.line() - 1 }
    }

    fn read_record(&mut self) -> Result<bool, String> {
        self.taken.set(0);
        let read = self.reader.read_byte_record(&mut self.record);
        read.map_err(|error| format!("line {}: {error}", self.place().line))
    }

    fn next_item(&mut self) -> Result<Option<Item>, String> {
        if !self.read_record()? {
            return Ok(None);
        }
        let begun = self.record.position().map_or(1, csv::Position::line);
        let line = self.base.line + begun - 1;
        let document = self.columns.document(&self.record).map(|tree| tree.to_buf());
        let document = document.map_err(|reason| (reason, text_of(&self.record)));
        Ok(Some(Item { line, next: self.place(), document }))
    }
}

/// Formats a record as a line of a table, truncated if it is long, for the refusals file.
fn text_of(record: &csv::ByteRecord) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_byte_record(record);
    let mut text = writer.into_inner().unwrap_or_default();
    let length = text.trim_ascii_end().len().min(KEPT_LINE_BYTES);
    text.truncate(length);
    text
}

/// Returns the name of a column, without a byte order mark.
fn name_of(field: &[u8]) -> Result<String, String> {
    let field = field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field);
    let name = str::from_utf8(field).map_err(|_| "a name in the header is not UTF-8".to_owned());
    name.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = (u64, u64, Result<String, String>);

    /// Returns all items of a file from a position: line, offset after it, document.
    fn items(text: &[u8], format: &Format, from: FilePosition) -> Result<Vec<Seen>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut input = Input::open(Some(file.path()), format, TableRules::default(), from)?;
        let mut found = Vec::new();
        while let Some(item) = input.next_item()? {
            let shown = item.document.map(|it| format!("{it:?}")).map_err(|(reason, _)| reason);
            found.push((item.line, item.next.offset, shown));
        }
        Ok(found)
    }

    #[test]
    fn lines_have_places_and_reasons() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\n  \n{\"b\":\n{\"c\":\"\xff\"}\n{\"d\":1}";
        let found = items(text, &Format::Plain, FilePosition::START).unwrap();
        let lines: Vec<u64> = found.iter().map(|it| it.0).collect();
        assert_eq!(lines, [1, 4, 5, 6]);
        assert_eq!(found[0].2.as_deref(), Ok("{ a: 1 }"));
        assert!(found[1].2.as_ref().unwrap_err().contains("EOF"));
        assert!(found[2].2.as_ref().unwrap_err().contains("unicode"));
        assert_eq!(found[3].1, text.len() as u64);
        for (at, (line, offset, _)) in found.iter().enumerate() {
            let from = FilePosition { offset: *offset, line: line + 1 };
            let rest = items(text, &Format::Plain, from).unwrap();
            assert_eq!(rest.len(), found.len() - at - 1, "behind line {line}");
        }
        let beyond = FilePosition { offset: 1000, line: 9 };
        assert!(items(text, &Format::Plain, beyond).unwrap_err().contains("shorter"));
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut text = b"{\"a\":\"".to_vec();
        text.resize(MAX_LINE_BYTES + 10, b'x');
        text.extend_from_slice(b"\n{\"b\":1}\n");
        let found = items(&text, &Format::Plain, FilePosition::START).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found[0].2.as_ref().unwrap_err().contains("longer than 128 MiB"));
        assert_eq!((found[1].0, found[1].2.as_deref()), (2, Ok("{ b: 1 }")));
    }

    #[test]
    fn records_go_over_lines_and_are_found_again() {
        let text = b"a,b\n1,\"x\ny\"\n2\n3,z\n";
        let csv = Format::Csv(Vec::new());
        let found = items(text, &csv, FilePosition::START).unwrap();
        let lines: Vec<u64> = found.iter().map(|it| it.0).collect();
        assert_eq!(lines, [2, 4, 5]);
        assert_eq!(found[0].2.as_deref(), Ok("{ a: 1, b: \"x\\ny\" }"));
        assert!(found[1].2.as_ref().unwrap_err().contains("1 fields"));
        let mut record = csv::ByteRecord::from(vec!["1", "x\ny", "a,b", ""]);
        assert_eq!(text_of(&record), b"1,\"x\ny\",\"a,b\",");
        record.push_field(&[b'x'; 1 << 20]);
        assert_eq!(text_of(&record).len(), KEPT_LINE_BYTES);
        let from = FilePosition { offset: found[0].1, line: 4 };
        assert_eq!(items(text, &csv, from).unwrap(), found[1..]);
        let named = Format::Csv(vec!["p".to_owned(), "q".to_owned()]);
        assert_eq!(items(text, &named, FilePosition::START).unwrap().len(), 4);
        assert!(items(b"", &csv, FilePosition::START).unwrap_err().contains("no header"));
        assert!(
            items(b"a,a\n", &csv, FilePosition::START).unwrap_err().contains("duplicate column")
        );
        assert!(items(b"a\xff\n", &csv, FilePosition::START).unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn a_record_that_does_not_end_is_an_error() {
        let mut text = b"a\n\"".to_vec();
        text.resize(usize::try_from(MAX_RECORD_BYTES).unwrap() + (1 << 20), b'x');
        let refused = items(&text, &Format::Csv(Vec::new()), FilePosition::START).unwrap_err();
        assert!(refused.contains("longer than 64 MiB"), "{refused}");
    }
}
