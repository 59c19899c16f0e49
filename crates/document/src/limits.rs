//! Limits on sizes and nesting depths that this crate enforces; the figures are MongoDB's.

/// Largest document a client may store, in bytes (MongoDB: 16,777,216).
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of a stored document; the same limit as in MongoDB.
pub const MAX_STORED_DEPTH: usize = 180;
/// Deepest nesting accepted on the wire (libbson and MongoDB's server: 200).
pub const MAX_WIRE_DEPTH: usize = 200;
/// Smallest well-formed document: its length and the terminating NUL.
pub const MIN_DOCUMENT_BYTES: usize = 5;
/// Maximum length of an encoded key component. A longer one is truncated to
/// `KEPT_KEY_COMPONENT_BYTES`, followed by a hash of 16 bytes.
pub const MAX_KEY_COMPONENT_BYTES: usize = 1024;
/// Number of bytes that are kept of a truncated key component.
pub const KEPT_KEY_COMPONENT_BYTES: usize = 1000;
