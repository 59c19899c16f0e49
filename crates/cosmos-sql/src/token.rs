//! Tokens and reserved words of the query language.

use document::Value;

use crate::error::Span;

/// A token and its position.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Keyword(Keyword),
    /// A name: letters, digits and `_`.
    Name(String),
    Parameter(String),
    /// A string, with its escapes decoded.
    Text(String),
    /// A number. It is stored as an integer if its value is whole.
    Number(Value),
    Punctuation(Punctuation),
    /// The end of the text, the last token of every list.
    End,
}

macro_rules! words {
    ($($word:ident $text:literal),* $(,)?) => {
        /// A reserved word of the query language.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Keyword { $($word),* }

        impl Keyword {
            /// Returns the reserved word with this text, if any. Case is ignored, except for the
            /// constants and `udf`, which are reserved only in lower case.
            pub(crate) fn find(text: &str) -> Option<Self> {
                $(if text.eq_ignore_ascii_case($text) {
                    let exact = !Self::$word.is_written_small() || text == $text;
                    return exact.then_some(Self::$word);
                })*
                None
            }
        }
    };
}
words! {
    And "AND", Array "ARRAY", As "AS", Asc "ASC", Between "BETWEEN", By "BY", Case "CASE",
    Cast "CAST", Convert "CONVERT", Cross "CROSS", Desc "DESC", Distinct "DISTINCT", Else "ELSE",
    End "END", Escape "ESCAPE", Exists "EXISTS", False "false", For "FOR", From "FROM",
    Group "GROUP", Having "HAVING", In "IN", Inner "INNER", Insert "INSERT", Into "INTO",
    Join "JOIN", Left "LEFT", Like "LIKE", Limit "LIMIT", Not "NOT", Null "null",
    Offset "OFFSET", On "ON", Or "OR", Order "ORDER", Outer "OUTER", Over "OVER", Right "RIGHT",
    Select "SELECT", Set "SET", Then "THEN", Top "TOP", True "true", Udf "udf",
    Undefined "undefined", Update "UPDATE", Value "VALUE", When "WHEN", Where "WHERE",
    With "WITH",
}

impl Keyword {
    /// Returns whether the word is reserved only if it is written in lower case.
    fn is_written_small(self) -> bool {
        matches!(self, Self::False | Self::Null | Self::True | Self::Udf | Self::Undefined)
    }
}

macro_rules! signs {
    ($($sign:ident $text:literal),* $(,)?) => {
        /// Punctuation. The table lists longer signs first, so that they are matched first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Punctuation { $($sign),* }

        impl Punctuation {
            /// Returns the sign with which a text starts, and its length. `>>>` must be tried
            /// before `>>` and `>`, hence the order of the list.
            pub(crate) fn starting(text: &str) -> Option<(Self, usize)> {
                $(if text.starts_with($text) { return Some((Self::$sign, $text.len())); })*
                None
            }
        }
    };
}
signs! {
    ShiftRightZero ">>>", ShiftLeft "<<", ShiftRight ">>", LessOrEqual "<=", GreaterOrEqual ">=",
    NotEqual "!=", Unequal "<>", Concat "||", Coalesce "??", Less "<", Greater ">", Equal "=",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Ampersand "&", Bar "|", Caret "^",
    Tilde "~", Question "?", Colon ":", Comma ",", Dot ".", Open "(", Close ")", OpenBracket "[",
    CloseBracket "]", OpenBrace "{", CloseBrace "}",
}
