//! Tokens of the language, and which words are reserved.

use document::Value;

use crate::error::Span;

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Its bytes in the text.
    pub(crate) span: Span,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A reserved word, in any case.
    Word(Word),
    /// A name: letters, digits and `_`.
    Name(String),
    /// `@` and a name.
    Parameter(String),
    /// A string, its escapes read.
    Text(String),
    /// A number, an integer where it is a whole one.
    Number(Value),
    /// Punctuation.
    Sign(Sign),
    /// The end of the text.
    /// It is the last token of every list.
    End,
}

macro_rules! words {
    ($($word:ident $text:literal),* $(,)?) => {
        /// A reserved word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Word { $($word),* }

        impl Word {
            /// The word that a text is; case does not count.
            /// There are few, and each is compared; a name that is none costs all comparisons.
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
            /// `>>>` has to be looked for before `>>` and `>`, hence the order of the list.
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
