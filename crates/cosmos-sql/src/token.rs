//! Tokens of the language, and which words are reserved.

use document::Value;

use crate::error::Span;

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Word(Word),
    Name(String),
    /// `@` and a name.
    Parameter(String),
    Text(String),
    Number(Value),
    Sign(Sign),
    End,
}

macro_rules! words {
    ($($word:ident $text:literal),* $(,)?) => {
        /// A reserved word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Word { $($word),* }

        impl Word {
            /// The word that a text is; case does not count.
            pub(crate) fn find(text: &str) -> Option<Self> {
                $(if text.eq_ignore_ascii_case($text) { return Some(Self::$word); })*
                None
            }
        }
    };
}
words! {
    And "AND", Array "ARRAY", As "AS", Asc "ASC", Between "BETWEEN", By "BY", Desc "DESC",
    Distinct "DISTINCT", Escape "ESCAPE", Exists "EXISTS", False "FALSE", From "FROM",
    Group "GROUP", Having "HAVING", In "IN", Join "JOIN", Like "LIKE", Limit "LIMIT", Not "NOT",
    Null "NULL", Offset "OFFSET", Or "OR", Order "ORDER", Select "SELECT", Top "TOP", True "TRUE",
    Udf "UDF", Undefined "UNDEFINED", Value "VALUE", Where "WHERE",
}

macro_rules! signs {
    ($($sign:ident $text:literal),* $(,)?) => {
        /// Punctuation; longer ones come first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Sign { $($sign),* }

        impl Sign {
            /// The sign that a text begins with, and its length.
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
