//! Rows of SELECT, without a parser.
