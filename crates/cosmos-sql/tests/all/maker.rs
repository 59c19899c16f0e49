//! Random expressions, queries and documents with few names and values, from a seed.

use document::{Document, json::parse_document};
use evaluation::Random;

/// Makes random expressions and documents with few names and values.
pub(crate) struct Maker(Random);

impl Maker {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(crate) fn number(&self, below: u64) -> u64 {
        self.0.next_number() % below
    }

    pub(crate) fn pick<'t>(&self, of: &[&'t str]) -> &'t str {
        let at = usize::try_from(self.0.next_number() % of.len() as u64).unwrap();
        of[at]
    }

    fn constant(&self) -> &'static str {
        self.pick(&[
            "0",
            "1",
            "2.5",
            "'a'",
            "'ab'",
            "'b'",
            "''",
            "true",
            "false",
            "null",
            "undefined",
            "[1]",
            "{'p': 1}",
            "-1",
        ])
    }

    pub(crate) fn path(&self) -> &'static str {
        self.pick(&["c.a", "c.b", "c.o.p", "c.t", "c.a.p", "c.o"])
    }

    pub(crate) fn operand(&self) -> String {
        match self.0.next_number() % 8 {
            0..4 => self.path().to_owned(),
            4..7 => self.constant().to_owned(),
            _ => format!("({} + 1)", self.path()),
        }
    }

    pub(crate) fn filter(&self, depth: u32) -> String {
        let inner = || self.filter(depth - 1);
        match if depth == 0 { 6 + self.0.next_number() % 10 } else { self.0.next_number() % 16 } {
            0 | 1 => format!("({} AND {})", inner(), inner()),
            2 | 3 => format!("({} OR {})", inner(), inner()),
            4 => format!("(NOT {})", inner()),
            5 => format!("({} ?? {})", inner(), inner()),
            6..10 => {
                let operator = self.pick(&["=", "!=", "<", "<=", ">", ">="]);
                format!("({} {operator} {})", self.operand(), self.operand())
            }
            10 => {
                let not = self.pick(&["", "NOT "]);
                let (value, low, high) = (self.operand(), self.operand(), self.operand());
                format!("({value} {not}BETWEEN {low} AND {high})")
            }
            11 => {
                let not = self.pick(&["", "NOT "]);
                let (value, one) = (self.operand(), self.operand());
                format!("({value} {not}IN ({}, {one}, {}))", self.constant(), self.constant())
            }
            12 => {
                let not = self.pick(&["", "NOT "]);
                let pattern = self.pick(&["'a%'", "'a'", "'%b'", "'_'", "''", "c.b", "'[a-b]%'"]);
                format!("({} {not}LIKE {pattern})", self.operand())
            }
            13 => {
                let name = self.pick(&["STARTSWITH", "CONTAINS", "ENDSWITH", "STRINGEQUALS"]);
                let case = self.pick(&["", ", true", ", false", ", c.a"]);
                format!("{name}({}, {}{case})", self.operand(), self.operand())
            }
            14 => {
                let name = self.pick(&[
                    "IS_DEFINED",
                    "IS_NULL",
                    "IS_STRING",
                    "IS_BOOL",
                    "IS_NUMBER",
                    "IS_ARRAY",
                    "IS_OBJECT",
                    "IS_PRIMITIVE",
                ]);
                format!("{name}({})", self.operand())
            }
            _ => match self.0.next_number() % 3 {
                0 => format!("ARRAY_CONTAINS({}, {})", self.path(), self.operand()),
                1 => format!("EXISTS(SELECT VALUE z FROM z IN {})", self.path()),
                _ => format!(
                    "EXISTS(SELECT VALUE z FROM z IN {} WHERE z = {})",
                    self.path(),
                    self.operand()
                ),
            },
        }
    }

    pub(crate) fn document(&self, id: u64) -> Document {
        let values = [
            "0",
            "1",
            "2.5",
            "\"a\"",
            "\"ab\"",
            "\"b\"",
            "\"\"",
            "true",
            "false",
            "null",
            "[1]",
            "[]",
            "[\"a\",1,true]",
            "{\"p\":1}",
            "{\"p\":\"a\"}",
            "{}",
            "-1",
            "3",
        ];
        let mut text = format!("{{\"id\":\"{id}\"");
        for name in ["a", "b", "o", "t"] {
            if !self.0.next_number().is_multiple_of(4) {
                text += &format!(",\"{name}\":{}", self.pick(&values));
            }
        }
        parse_document((text + "}").as_bytes(), 9).unwrap()
    }
}

impl Maker {
    /// Returns a query of any form.
    pub(crate) fn query(&self) -> String {
        let join = self.pick(&["", "", " JOIN x IN c.t", " JOIN x IN c.t JOIN y IN c.a"]);
        let filter = match self.number(2) {
            0 => String::new(),
            _ => format!(" WHERE {}", self.filter(1)),
        };
        let distinct = self.pick(&["", "", "DISTINCT "]);
        let window = match self.number(4) {
            0 => format!(" OFFSET {} LIMIT {}", self.number(6), self.number(9)),
            _ => String::new(),
        };
        let top = match self.number(4) {
            0 if window.is_empty() => format!("TOP {} ", self.number(9)),
            _ => String::new(),
        };
        if self.number(4) == 0 {
            let keys = self.pick(&["", "c.a", "c.a, c.b", "c.a, LENGTH(c.b)"]);
            let aggregate = self.pick(&[
                "COUNT(1)",
                "SUM(c.o.p)",
                "MIN(c.a)",
                "MAX(c.b)",
                "AVG(c.a)",
                "MAKESET(c.t)",
                "COUNTIF(c.a = c.b)",
            ]);
            let group = if keys.is_empty() { "" } else { " GROUP BY " };
            let value = self.pick(&["", "VALUE "]);
            let order = match self.number(3) {
                0 if keys.is_empty() => format!(" ORDER BY {aggregate} DESC"),
                0 => " ORDER BY c.a DESC".to_owned(),
                _ => String::new(),
            };
            return format!(
                "SELECT {distinct}{top}{value}{aggregate} FROM c{join}{filter}{group}{keys}{order}{window}"
            );
        }
        let select = match self.number(5) {
            0 if join.is_empty() => "*".to_owned(),
            1 => format!("{} AS m, {} AS n", self.operand(), self.path()),
            2 => "VALUE c.id".to_owned(),
            _ => format!("VALUE {}", self.operand()),
        };
        let mut order = String::new();
        for _ in 0..self.number(3) {
            order += if order.is_empty() { " ORDER BY " } else { ", " };
            order += &format!("{} {}", self.path(), self.pick(&["ASC", "DESC"]));
        }
        format!("SELECT {distinct}{top}{select} FROM c{join}{filter}{order}{window}")
    }
}
