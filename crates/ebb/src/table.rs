//! Text tables with headings and aligned columns, for people; programs use `--json`.

use unicode_width::UnicodeWidthStr;

const GAP: &str = "  ";

/// A column with its heading, by alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Text(&'static str),
    Number(&'static str),
}

impl Column {
    fn heading(self) -> &'static str {
        match self {
            Self::Text(heading) | Self::Number(heading) => heading,
        }
    }

    /// Appends a text with padding.
    fn push(self, text: &str, width: usize, line: &mut String) {
        let blanks = " ".repeat(width.saturating_sub(text.width()));
        match self {
            Self::Text(_) => line.extend([text, &blanks]),
            Self::Number(_) => line.extend([&blanks, text]),
        }
    }
}

/// Returns the lines of a table. A row has a text for each column.
pub(crate) fn format_table(columns: &[Column], rows: &[Vec<String>]) -> String {
    let headings: Vec<String> = columns.iter().map(|it| it.heading().to_owned()).collect();
    let all = || std::iter::once(&headings).chain(rows);
    let width_of = |at: usize| all().filter_map(|row| row.get(at)).map(|it| it.width()).max();
    let widths: Vec<usize> = (0..columns.len()).map(|at| width_of(at).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in all() {
        let mut line = String::new();
        for ((column, width), text) in columns.iter().zip(&widths).zip(row) {
            if !line.is_empty() {
                line.push_str(GAP);
            }
            column.push(text, *width, &mut line);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let columns = [Column::Text("NAME"), Column::Number("LIVE"), Column::Text("TTL")];
        let row = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
        let rows = [row(["sessions", "12", "off"]), row(["数据", "12345", ""])];
        let wanted = "NAME       LIVE  TTL\nsessions     12  off\n数据      12345\n";
        assert_eq!(format_table(&columns, &rows), wanted);
        assert_eq!(format_table(&columns, &[]), "NAME  LIVE  TTL\n");
    }
}
