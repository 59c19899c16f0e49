//! The access path that a client requests by a hint.

use document::Document;
use store::Direction;

/// The access path that a client's hint requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Hint {
    /// The client gave no hint.
    #[default]
    None,
    /// A scan of the rows in this direction.
    Natural(Direction),
    /// The index with this name.
    Index(String),
    /// The index with this key pattern.
    Key(Document),
}
