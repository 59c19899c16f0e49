//! Splits a text into tokens: skips comments and white space, and decodes literals.

use document::Value;

use crate::{
    error::{Fault, Span},
    token::{Keyword, Punctuation, Token, TokenKind},
};

/// Returns the tokens of a text, ending with [`TokenKind::End`], and the fault that ended them
/// early, if any. The caller limits the length of the text and thereby the number of tokens. No
/// tokens are read after the first fault. The parser reports the fault when it reaches the end of
/// the tokens, because a syntax error before it takes precedence.
pub(crate) fn tokenize(text: &str) -> (Vec<Token>, Option<Fault>) {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let (kind, fault) = match lexer.next_kind() {
            Ok(kind) => (kind, None),
            Err(fault) => (TokenKind::End, Some(fault)),
        };
        let ends = kind == TokenKind::End;
        // The end is a token too, so that an error at the end has a position.
        tokens.push(Token { kind, span: Span { start, end: lexer.at } });
        if ends {
            return (tokens, fault);
        }
    }
}

/// The state of the lexer.
struct Lexer<'t> {
    text: &'t str,
    /// Number of bytes read; always at a character boundary.
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest_of_text(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the next character without consuming it.
    fn peek_char(&self) -> Option<char> {
        self.rest_of_text().chars().next()
    }

    /// Consumes and returns the next character.
    fn next_char(&mut self) -> Option<char> {
        let c = self.peek_char()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Consumes and returns the longest run of characters that meet the condition.
    fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest_of_text();
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Returns the span from `start` to the current position.
    fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    /// Skips white space and comments (`--` to the end of the line), the only kind of comment in
    /// the language.
    fn skip_blanks(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest_of_text().starts_with("--") {
                return;
            }
            self.take_while(|c| c != '\n' && c != '\r');
        }
    }

    /// Reads the next token. White space must have been skipped.
    fn next_kind(&mut self) -> Result<TokenKind, Fault> {
        let start = self.at;
        let Some(c) = self.peek_char() else { return Ok(TokenKind::End) };
        let mut after = self.rest_of_text().chars().skip(1);
        match c {
            c if c.is_alphabetic() || c == '_' => {
                let word = self.take_while(is_name);
                Ok(Keyword::find(word)
                    .map_or_else(|| TokenKind::Name(word.to_owned()), TokenKind::Keyword))
            }
            '@' => {
                self.next_char();
                if self.peek_char().is_none_or(|c| !c.is_alphabetic() && c != '_') {
                    return Err(Fault::Token(self.span_from(start)));
                }
                let name = self.take_while(is_name);
                Ok(TokenKind::Parameter(format!("@{name}")))
            }
            '"' | '\'' => self.read_string(c),
            c if c.is_ascii_digit() => self.read_number(),
            // `.5` is a number, `.a` is a step of a path.
            '.' if after.next().is_some_and(|c| c.is_ascii_digit()) => self.read_number(),
            c => match Punctuation::starting(self.rest_of_text()) {
                Some((sign, length)) => {
                    self.at += length;
                    Ok(TokenKind::Punctuation(sign))
                }
                None => Err(Fault::Token(Span { start, end: start + c.len_utf8() })),
            },
        }
    }

    /// Reads a string in single or double quotes. Escapes are those of JSON; before any other
    /// character the `\` is dropped. Unescaped line breaks are allowed.
    fn read_string(&mut self, quote: char) -> Result<TokenKind, Fault> {
        let start = self.at;
        self.next_char();
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|c| c != quote && c != '\\'));
            let c = match self.next_char() {
                Some('\\') => self.read_escape(),
                Some(_) => return Ok(TokenKind::Text(text)),
                None => None,
            };
            // The message shows the text read so far, including the invalid character.
            text.push(c.ok_or_else(|| Fault::Literal(self.span_from(start)))?);
        }
    }

    /// Decodes an escape after its `\`. A character beyond 16 bits is written as two `\u` escapes
    /// (a surrogate pair); an unpaired half is replaced by U+FFFD. Returns `None` at the end of the
    /// text and for a `\u` without four digits.
    fn read_escape(&mut self) -> Option<char> {
        Some(match self.next_char()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.read_unit()?;
                self.read_low_half(first)
                    .or_else(|| char::from_u32(first))
                    .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            c => c,
        })
    }

    /// Returns the character of a surrogate pair, if `first` is the high half and the next escape
    /// is the low half, which is then consumed.
    fn read_low_half(&mut self, first: u32) -> Option<char> {
        let digits = self.rest_of_text().strip_prefix("\\u")?.get(..4)?;
        let second = u32::from_str_radix(digits, 16).ok()?;
        let (high, low) = (first.checked_sub(0xd800)?, second.checked_sub(0xdc00)?);
        if 0x400 <= high || 0x400 <= low {
            return None;
        }
        self.at += 6;
        char::from_u32(0x10000 + (high << 10) + low)
    }

    /// Reads the four hexadecimal digits of an escape. An invalid character is consumed, so that
    /// messages show it.
    fn read_unit(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit * 16 + self.next_char()?.to_digit(16)?;
        }
        Some(unit)
    }

    /// Reads a number: decimal with optional fraction and exponent, or hexadecimal. A whole number
    /// that fits 64 bits becomes an integer. A minus sign is a separate token, which the parser
    /// combines with the number.
    fn read_number(&mut self) -> Result<TokenKind, Fault> {
        let start = self.at;
        let hex = self
            .rest_of_text()
            .strip_prefix("0x")
            .or_else(|| self.rest_of_text().strip_prefix("0X"));
        if hex.is_some() {
            self.at += 2;
            // Consumes everything that can continue a name, so that `0x1g` is one invalid number
            // and not two tokens.
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
        // `1a` is neither a number nor a name.
        let more = self.take_while(is_name);
        let text = self.text.get(start..self.at).unwrap_or_default();
        // A whole number beyond 64 bits is a double.
        let exact = text.parse::<i64>().ok().filter(|_| whole).map(Value::Int64);
        let value = exact.or_else(|| {
            // Also `1.0` and `1e3` become integers.
            text.parse::<f64>().ok().and_then(|value| select::number_or_nothing(value).into_value())
        });
        match value {
            Some(value) if more.is_empty() => Ok(TokenKind::Number(value)),
            _ => Err(Fault::Number(self.span_from(start))),
        }
    }
}

/// Returns whether a name may contain this character after the first one.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let (tokens, fault) = tokenize(text);
        if let Some(fault) = fault {
            return fault.into_error(text).to_string();
        }
        let shown = tokens.iter().map(|token| match &token.kind {
            TokenKind::Keyword(word) => format!("{word:?}").to_uppercase(),
            TokenKind::Name(name) | TokenKind::Parameter(name) => name.clone(),
            TokenKind::Text(text) => format!("{text:?}"),
            TokenKind::Number(value) => document::json::to_string(value.as_ref()),
            TokenKind::Punctuation(sign) => format!("{sign:?}"),
            TokenKind::End => "end".to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_are_read() {
        for (text, want) in [
            ("", "end"),
            ("SELECT * from C", "SELECT Star FROM C end"),
            ("a--b\nc--", "a c end"),
            ("a/*b*/", "a Slash Star b Star Slash end"),
            ("'a''b' \"a\\\"b\" 'x\\n\\u00e9'", "\"a\" \"b\" \"a\\\"b\" \"x\\né\" end"),
            ("'\\ud83d\\ude00' '\\x\\ud800'", "\"😀\" \"x\u{fffd}\" end"),
            ("'\\ude00\\u0041' '\\ud83d\\ud83d'", "\"\u{fffd}A\" \"\u{fffd}\u{fffd}\" end"),
            ("true TRUE null Null udf UDF", "TRUE TRUE NULL Null UDF UDF end"),
            ("1 1.5 .5 1. 1e3 0x1f", "1 1.5 0.5 1 1000 31 end"),
            (
                "9223372036854775807 9223372036854775808",
                "9223372036854775807 9.223372036854776e+18 end",
            ),
            ("@p @p_0 @_0", "@p @p_0 @_0 end"),
            (
                "a>>>b>>c<<d<=e<>f!=g||h??i",
                "a ShiftRightZero b ShiftRight c ShiftLeft d LessOrEqual e Unequal f NotEqual g Concat h Coalesce i end",
            ),
            ("é.b[0]", "é Dot b OpenBracket 0 CloseBracket end"),
            ("'a b", "SC1012: Syntax error, invalid string literal token ''a b'."),
            ("'\\u12zz'", "SC1012: Syntax error, invalid string literal token ''\\u12z'."),
            ("'\\u12", "SC1012: Syntax error, invalid string literal token ''\\u12'."),
            ("a;", "SC1010: Syntax error, invalid token ';'."),
            ("@", "SC1010: Syntax error, invalid token '@'."),
            ("@1", "SC1010: Syntax error, invalid token '@'."),
            ("1a", "SC1011: Syntax error, invalid numeric value token '1a'."),
            ("1e999", "SC1011: Syntax error, invalid numeric value token '1e999'."),
            ("1e", "SC1011: Syntax error, invalid numeric value token '1e'."),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
    }
}
