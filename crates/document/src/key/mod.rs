//! Sortable keys: values encoded so that comparing bytes compares values, component by component.
//! Components are self-delimiting, so several can follow one another in one key.
//!
//! `encode(a) == encode(b)` exactly when `a` and `b` compare as equal. A component longer than
//! [`KEPT_KEY_COMPONENT_BYTES`] is truncated to that
//! length, followed by a 128-bit hash of the whole: this preserves equality, but not the order
//! among truncated values.
//!
//! A component is a byte for the type of the value, then its content. A text, document or array
//! sorts after its prefixes: texts escape 0 and 1 and end with 0, documents and arrays end with 0.
//! A descending component has all its bits inverted.
//!
//! ```text
//! "a\0b"        20  61  01 01  62  00
//! { a: true }   28  48  61 00  02  00
//! ```

mod decode;
mod encode;
mod number;

#[cfg(test)]
mod laws;

pub use decode::{Component, decode, skip};
pub use encode::{component_hash, encode, hashed_component};

/// Number of bytes that are kept of a truncated key component.
pub const KEPT_KEY_COMPONENT_BYTES: usize = 1000;

/// The order of types in a key. The two orders differ only in booleans and arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeOrder {
    /// BSON's order: null, numbers, strings, objects, arrays, ...
    Bson,
    /// JSON's order in Cosmos DB: null, booleans, numbers, strings, arrays, objects.
    Json,
}

/// The first byte of an encoded value, by type. Zero terminates a nested document, so no type uses
/// it.
mod class {
    pub(super) const MIN_KEY: u8 = 0x08;
    pub(super) const UNDEFINED: u8 = 0x0a;
    pub(super) const NULL: u8 = 0x10;
    pub(super) const JSON_BOOL: u8 = 0x14;
    pub(super) const NUMBER: u8 = 0x1a;
    pub(super) const STRING: u8 = 0x20;
    pub(super) const JSON_ARRAY: u8 = 0x24;
    pub(super) const DOCUMENT: u8 = 0x28;
    pub(super) const ARRAY: u8 = 0x30;
    pub(super) const BINARY: u8 = 0x38;
    pub(super) const OBJECT_ID: u8 = 0x40;
    pub(super) const BOOL: u8 = 0x48;
    pub(super) const DATE: u8 = 0x50;
    pub(super) const TIMESTAMP: u8 = 0x58;
    pub(super) const REGEX: u8 = 0x60;
    pub(super) const DB_POINTER: u8 = 0x68;
    pub(super) const CODE: u8 = 0x70;
    pub(super) const CODE_WITH_SCOPE: u8 = 0x78;
    pub(super) const MAX_KEY: u8 = 0xf0;
}
