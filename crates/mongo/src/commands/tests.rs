//! Tests of commands live in crates/mongo/tests, on the wire.
