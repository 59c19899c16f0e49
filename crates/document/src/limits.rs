//! The sizes and depths this crate enforces, with MongoDB's figures.

/// Largest document a client may store, in bytes (MongoDB: 16,777,216).
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of a stored document (MongoDB: 180).
pub const MAX_STORED_DEPTH: usize = 180;
/// Deepest nesting that is accepted on the wire at all (libbson and the server: 200).
pub const MAX_WIRE_DEPTH: usize = 200;
/// Smallest well-formed document: a length and the final NUL.
pub const MIN_DOCUMENT_BYTES: usize = 5;
/// No encoded key component is longer than this: one that would be is cut, and what is kept of it
/// takes no more than this together with its hash of 16 bytes.
pub const MAX_KEY_COMPONENT_BYTES: usize = 1024;
/// How much of a cut key component is kept.
pub const KEPT_KEY_COMPONENT_BYTES: usize = 1000;
