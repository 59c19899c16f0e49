//! Nothing: the tests of the Rust SDK are in `tests/all`.
