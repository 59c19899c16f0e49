//! Rows of expressions, without a parser.
