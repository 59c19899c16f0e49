//! Parses documents in shell syntax, so that tests can be tables of text.

use std::{iter::Peekable, str::Chars};

use document::{Decimal128, Document, ObjectId, Value};

/// Parses a document such as `{a: {$gt: 1}}`.
pub(crate) fn document(text: &str) -> Document {
    match value(text) {
        Value::Document(document) => document,
        other => panic!("not a document: {other:?}"),
    }
}

/// Parses a value of any type.
pub(crate) fn value(text: &str) -> Value {
    let mut reader = Reader { rest: text.chars().peekable() };
    let value = reader.value();
    reader.space();
    assert_eq!(reader.rest.next(), None, "{text}");
    value
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn space(&mut self) {
        while self.rest.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.space();
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn word(&mut self) -> String {
        let part = |c: &char| c.is_alphanumeric() || "_$.-+".contains(*c);
        std::iter::from_fn(|| self.rest.next_if(part)).collect()
    }

    fn quoted(&mut self, end: char) -> String {
        let mut text = String::new();
        loop {
            match self.rest.next().unwrap() {
                '\\' if end != '/' => text.push(match self.rest.next().unwrap() {
                    'n' => '\n',
                    '0' => '\0',
                    other => other,
                }),
                '\\' => text.extend(['\\', self.rest.next().unwrap()]),
                c if c == end => return text,
                c => text.push(c),
            }
        }
    }

    fn name(&mut self) -> String {
        self.space();
        match self.rest.next_if(|c| *c == '\'' || *c == '"') {
            Some(quote) => self.quoted(quote),
            None => self.word(),
        }
    }

    fn value(&mut self) -> Value {
        self.space();
        match *self.rest.peek().unwrap() {
            '{' => self.fields(),
            '[' => self.elements(),
            '\'' | '"' => Value::String(self.name()),
            '/' => {
                self.rest.next();
                let pattern = self.quoted('/');
                Value::Regex { pattern, options: self.word() }
            }
            _ => self.named(),
        }
    }

    fn fields(&mut self) -> Value {
        let mut fields = Document::new();
        assert!(self.eat('{'));
        while !self.eat('}') {
            let name = self.name();
            assert!(self.eat(':'), "{name}");
            fields.push(name, self.value());
            self.eat(',');
        }
        Value::Document(fields)
    }

    fn elements(&mut self) -> Value {
        let mut values = Vec::new();
        assert!(self.eat('['));
        while !self.eat(']') {
            values.push(self.value());
            self.eat(',');
        }
        Value::Array(values)
    }

    fn named(&mut self) -> Value {
        let word = self.word();
        if self.eat('(') {
            let argument = self.name();
            let second = if self.eat(',') { self.name() } else { String::new() };
            assert!(self.eat(')'), "{word}");
            return call(&word, &argument, &second);
        }
        match word.as_str() {
            "null" => Value::Null,
            "undefined" => Value::Undefined,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "MinKey" => Value::MinKey,
            "MaxKey" => Value::MaxKey,
            "NaN" => Value::Double(f64::NAN),
            "Infinity" => Value::Double(f64::INFINITY),
            "-Infinity" => Value::Double(f64::NEG_INFINITY),
            number if number.contains(['.', 'e']) => Value::Double(number.parse().unwrap()),
            number => match number.parse::<i32>() {
                Ok(small) => Value::Int32(small),
                Err(_) => Value::Int64(number.parse().unwrap()),
            },
        }
    }
}

fn call(name: &str, argument: &str, second: &str) -> Value {
    match name {
        "NumberInt" => Value::Int32(argument.parse().unwrap()),
        "NumberLong" => Value::Int64(argument.parse().unwrap()),
        "NumberDecimal" => Value::Decimal128(Decimal128::parse(argument).unwrap()),
        "Date" => Value::DateTime(argument.parse().unwrap()),
        "ObjectId" => Value::ObjectId(ObjectId::parse(argument).unwrap()),
        "Timestamp" => {
            let (high, low): (u64, u64) = (argument.parse().unwrap(), second.parse().unwrap());
            Value::Timestamp(high << 32 | low)
        }
        "Symbol" => Value::Symbol(argument.to_owned()),
        "Code" => Value::JavaScript(argument.to_owned()),
        "BinData" => {
            let digits: Vec<char> = second.chars().collect();
            let byte =
                |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
            let bytes = digits.chunks(2).map(byte).collect();
            Value::Binary { subtype: argument.parse().unwrap(), bytes }
        }
        other => panic!("unknown value {other}"),
    }
}
