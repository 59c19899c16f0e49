//! A wish for a certain access path, as a client states it.

use document::Document;
use store::Direction;

/// A wish for a certain access path.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Hint {
    /// None.
    #[default]
    None,
    /// The rows in this direction.
    Natural(Direction),
    /// The index of this name.
    Index(String),
    /// The index with this key pattern.
    Key(Document),
}
