//! Text to tokens: comments and blanks are left out, literals are read.

use document::Value;

use crate::{
    error::{Fault, Span},
    token::{Sign, Token, TokenKind, Word},
};

/// All tokens of a text, closed by one that says that it ends. The text is bounded before it comes
/// here, so the tokens are too.
/// It stops at the first fault: what follows a wrong token would be a guess.
pub(crate) fn tokenize(text: &str) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let kind = lexer.next_kind()?;
        let ends = kind == TokenKind::End;
        // The end is a token too, so that an error at the end has a place.
        tokens.push(Token { kind, span: Span { start, end: lexer.at } });
        if ends {
            return Ok(tokens);
        }
    }
}

/// A place in the text.
struct Lexer<'t> {
    /// The whole text.
    text: &'t str,
    /// Bytes of it that were read.
    /// Always on the border of a character.
    at: usize,
}

impl<'t> Lexer<'t> {
    /// What was not read yet.
    fn rest_of_text(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next character, which stays.
    fn peek_char(&self) -> Option<char> {
        self.rest_of_text().chars().next()
    }

    /// Takes the next character.
    fn next_char(&mut self) -> Option<char> {
        let c = self.peek_char()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes characters while they are of a kind, and returns them.
    fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest_of_text();
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// The place from `start` to here.
    fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    /// Passes over white space, comments to the end of a line (`--`) and comments in `/* */`, which
    /// have to be closed.
    /// A comment may stand wherever a blank may. Comments do not nest.
    fn skip_blanks(&mut self) -> Result<(), Fault> {
        loop {
            self.take_while(|c| c.is_whitespace() || c == '\u{feff}');
            let rest = self.rest_of_text();
            if rest.starts_with("--") {
                self.take_while(|c| c != '\n' && c != '\r');
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

    /// The next token.
    /// It is called at the first character of a token; blanks were passed over.
    fn next_kind(&mut self) -> Result<TokenKind, Fault> {
        let start = self.at;
        let Some(c) = self.peek_char() else { return Ok(TokenKind::End) };
        let mut after = self.rest_of_text().chars().skip(1);
        match c {
            c if c.is_alphabetic() || c == '_' => {
                let word = self.take_while(is_name);
                Ok(Word::find(word)
                    .map_or_else(|| TokenKind::Name(word.to_owned()), TokenKind::Word))
            }
            '@' => {
                self.next_char();
                let name = self.take_while(is_name);
                if name.is_empty() {
                    return Err(Fault::Token(self.span_from(start)));
                }
                Ok(TokenKind::Parameter(format!("@{name}")))
            }
            '"' | '\'' => self.read_string(c),
            c if c.is_ascii_digit() => self.read_number(),
            // `.5` is a number, `.a` a step of a path.
            '.' if after.next().is_some_and(|c| c.is_ascii_digit()) => self.read_number(),
            c => match Sign::starting(self.rest_of_text()) {
                Some((sign, length)) => {
                    self.at += length;
                    Ok(TokenKind::Sign(sign))
                }
                None => Err(Fault::Token(Span { start, end: start + c.len_utf8() })),
            },
        }
    }

    /// A string in single or double quotes. Escapes are those of JSON; a quote may also be doubled.
    /// Line breaks may stand in it as they are. A string without an end is shown by its first
    /// quote, since the rest of the text would fill the message.
    fn read_string(&mut self, quote: char) -> Result<TokenKind, Fault> {
        let start = self.at;
        self.next_char();
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|c| c != quote && c != '\\'));
            let wrong = |lexer: &Self| Fault::Literal(lexer.span_from(start));
            match self.next_char() {
                None => return Err(Fault::Literal(Span { start, end: start + 1 })),
                Some('\\') => {
                    let c = self.read_escape().ok_or_else(|| wrong(self))?;
                    text.push(c);
                }
                // A quote twice stands for one.
                Some(_) if self.peek_char() == Some(quote) => {
                    self.next_char();
                    text.push(quote);
                }
                Some(_) => return Ok(TokenKind::Text(text)),
            }
        }
    }

    /// The character of an escape whose `\` was read already. A character beyond 16 bits is two
    /// `\u` escapes, both of which have to be there.
    /// `None` for a character that is no escape, and for half of a pair: a lone surrogate is no
    /// text.
    fn read_escape(&mut self) -> Option<char> {
        Some(match self.next_char()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.read_unit()?;
                // The second half of a pair without the first is no character, and fails here.
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first);
                }
                self.at += self.rest_of_text().strip_prefix("\\u").map(|_| 2)?;
                let second = self.read_unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + second);
            }
            c @ ('\\' | '/' | '"' | '\'') => c,
            _ => return None,
        })
    }

    /// Four hexadecimal digits of an escape.
    /// The sign that `from_str_radix` would take is refused by looking at the digits first.
    fn read_unit(&mut self) -> Option<u32> {
        let digits = self.rest_of_text().get(..4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    /// A number: decimal, with a fraction or an exponent, or hexadecimal. A whole number that 64
    /// bits hold is an integer.
    /// The minus is not a part of it: the parser joins the two.
    fn read_number(&mut self) -> Result<TokenKind, Fault> {
        let start = self.at;
        let hex = self
            .rest_of_text()
            .strip_prefix("0x")
            .or_else(|| self.rest_of_text().strip_prefix("0X"));
        if hex.is_some() {
            self.at += 2;
            // All that could go on a name is taken, so that `0x1g` is one wrong number and not two
            // tokens.
            let digits = self.take_while(is_name);
            let value = i64::from_str_radix(digits, 16).ok().map(Value::Int64);
            return value
                .map(TokenKind::Number)
                .ok_or_else(|| Fault::Number(self.span_from(start)));
        }
        let mut whole = true;
        self.take_while(|c| c.is_ascii_digit());
        if self.peek_char() == Some('.') {
            whole = false;
            self.next_char();
            self.take_while(|c| c.is_ascii_digit());
        }
        if matches!(self.peek_char(), Some('e' | 'E')) {
            whole = false;
            self.next_char();
            if matches!(self.peek_char(), Some('+' | '-')) {
                self.next_char();
            }
            self.take_while(|c| c.is_ascii_digit());
        }
        // What follows has to be no part of a name: `1a` is neither.
        let more = self.take_while(is_name);
        let text = self.text.get(start..self.at).unwrap_or_default();
        // Beyond 64 bits a whole number is a double.
        let exact = text.parse::<i64>().ok().filter(|_| whole).map(Value::Int64);
        let value = exact.or_else(|| {
            // A whole number is one however it is written.
            text.parse::<f64>().ok().and_then(|value| select::number_or_nothing(value).into_value())
        });
        match value {
            Some(value) if more.is_empty() => Ok(TokenKind::Number(value)),
            _ => Err(Fault::Number(self.span_from(start))),
        }
    }
}

/// Whether a name may have this character after its first one.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let tokens = match tokenize(text) {
            Ok(tokens) => tokens,
            Err(fault) => return fault.into_error(text).to_string(),
        };
        let shown = tokens.iter().map(|token| match &token.kind {
            TokenKind::Word(word) => format!("{word:?}").to_uppercase(),
            TokenKind::Name(name) | TokenKind::Parameter(name) => name.clone(),
            TokenKind::Text(text) => format!("{text:?}"),
            TokenKind::Number(value) => document::json::to_string(value.as_ref()),
            TokenKind::Sign(sign) => format!("{sign:?}"),
            TokenKind::End => "end".to_owned(),
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
