//! Text to tokens: comments and blanks are left out, literals are read.

use document::Value;

use crate::{
    error::{Fault, Span},
    token::{Kind, Sign, Token, Word},
};

/// All tokens of a text, closed by one that says that it ends.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let kind = lexer.next()?;
        let ends = kind == Kind::End;
        tokens.push(Token { kind, span: Span { start, end: lexer.at } });
        if ends {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes characters while they are of a kind.
    fn take(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            self.take(|c| c.is_whitespace() || c == '\u{feff}');
            let rest = self.rest();
            if rest.starts_with("--") {
                self.take(|c| c != '\n' && c != '\r');
            } else if rest.starts_with("/*") {
                let start = self.at;
                let Some(end) = rest.find("*/") else {
                    return Err(Fault::Token(Span { start, end: start + 2 }));
                };
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        let Some(c) = self.peek() else { return Ok(Kind::End) };
        let mut after = self.rest().chars().skip(1);
        match c {
            c if c.is_alphabetic() || c == '_' => {
                let word = self.take(is_name);
                Ok(Word::find(word).map_or_else(|| Kind::Name(word.to_owned()), Kind::Word))
            }
            '@' => {
                self.advance();
                let name = self.take(is_name);
                if name.is_empty() {
                    return Err(Fault::Token(self.from(start)));
                }
                Ok(Kind::Parameter(format!("@{name}")))
            }
            '"' | '\'' => self.string(c),
            c if c.is_ascii_digit() => self.number(),
            '.' if after.next().is_some_and(|c| c.is_ascii_digit()) => self.number(),
            c => match Sign::starting(self.rest()) {
                Some((sign, length)) => {
                    self.at += length;
                    Ok(Kind::Sign(sign))
                }
                None => Err(Fault::Token(Span { start, end: start + c.len_utf8() })),
            },
        }
    }

    fn string(&mut self, quote: char) -> Result<Kind, Fault> {
        let start = self.at;
        self.advance();
        let mut text = String::new();
        loop {
            text.push_str(self.take(|c| c != quote && c != '\\'));
            let wrong = |lexer: &Self| Fault::Literal(lexer.from(start));
            match self.advance() {
                None => return Err(Fault::Literal(Span { start, end: start + 1 })),
                Some('\\') => {
                    let c = self.escape().ok_or_else(|| wrong(self))?;
                    text.push(c);
                }
                // A quote twice stands for one.
                Some(_) if self.peek() == Some(quote) => {
                    self.advance();
                    text.push(quote);
                }
                Some(_) => return Ok(Kind::Text(text)),
            }
        }
    }

    /// What a `\` that was read already begins.
    fn escape(&mut self) -> Option<char> {
        Some(match self.advance()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit()?;
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first);
                }
                self.at += self.rest().strip_prefix("\\u").map(|_| 2)?;
                let second = self.unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + second);
            }
            c @ ('\\' | '/' | '"' | '\'') => c,
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let start = self.at;
        let hex = self.rest().strip_prefix("0x").or_else(|| self.rest().strip_prefix("0X"));
        if hex.is_some() {
            self.at += 2;
            let digits = self.take(is_name);
            let value = i64::from_str_radix(digits, 16).ok().map(Value::Int64);
            return value.map(Kind::Number).ok_or_else(|| Fault::Number(self.from(start)));
        }
        let mut whole = true;
        self.take(|c| c.is_ascii_digit());
        if self.peek() == Some('.') {
            whole = false;
            self.advance();
            self.take(|c| c.is_ascii_digit());
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            whole = false;
            self.advance();
            if matches!(self.peek(), Some('+' | '-')) {
                self.advance();
            }
            self.take(|c| c.is_ascii_digit());
        }
        // What follows has to be no part of a name: `1a` is neither.
        let more = self.take(is_name);
        let text = self.text.get(start..self.at).unwrap_or_default();
        let exact = text.parse::<i64>().ok().filter(|_| whole).map(Value::Int64);
        let value = exact.or_else(|| {
            // A whole number is one however it is written.
            text.parse::<f64>().ok().and_then(|value| select::number_or_nothing(value).into_value())
        });
        match value {
            Some(value) if more.is_empty() => Ok(Kind::Number(value)),
            _ => Err(Fault::Number(self.from(start))),
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let tokens = match tokens(text) {
            Ok(tokens) => tokens,
            Err(fault) => return fault.into_error(text).to_string(),
        };
        let shown = tokens.iter().map(|token| match &token.kind {
            Kind::Word(word) => format!("{word:?}").to_uppercase(),
            Kind::Name(name) | Kind::Parameter(name) => name.clone(),
            Kind::Text(text) => format!("{text:?}"),
            Kind::Number(value) => document::json::to_string(value.as_ref()),
            Kind::Sign(sign) => format!("{sign:?}"),
            Kind::End => "end".to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_are_read() {
        for (text, want) in [
            ("", "end"),
            ("SELECT * from C", "SELECT Star FROM C end"),
            ("a--b\nc/* d\n */e", "a c e end"),
            ("'a''b' \"a\\\"b\" 'x\\n\\u00e9\\ud83d\\ude00'", "\"a'b\" \"a\\\"b\" \"x\\né😀\" end"),
            ("1 1.5 .5 1. 1e3 0x1f", "1 1.5 0.5 1 1000 31 end"),
            (
                "9223372036854775807 9223372036854775808",
                "9223372036854775807 9.223372036854776e+18 end",
            ),
            ("@p @p_0 @0", "@p @p_0 @0 end"),
            (
                "a>>>b>>c<<d<=e<>f!=g||h??i",
                "a ShiftRightZero b ShiftRight c ShiftLeft d LessOrEqual e Unequal f NotEqual g Concat h Coalesce i end",
            ),
            ("é.b[0]", "é Dot b OpenBracket 0 CloseBracket end"),
            ("'a", "SC1012: Syntax error, invalid string literal token '''."),
            ("'\\x'", "SC1012: Syntax error, invalid string literal token ''\\x'."),
            ("'\\ud800'", "SC1012: Syntax error, invalid string literal token ''\\ud800'."),
            ("a;", "SC1010: Syntax error, invalid token ';'."),
            ("@", "SC1010: Syntax error, invalid token '@'."),
            ("/* a", "SC1010: Syntax error, invalid token '/*'."),
            ("1a", "SC1011: Syntax error, invalid numeric value token '1a'."),
            ("1e999", "SC1011: Syntax error, invalid numeric value token '1e999'."),
            ("1e", "SC1011: Syntax error, invalid numeric value token '1e'."),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
    }
}
