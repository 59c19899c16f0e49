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
    /// The keys of an index between two bounds.
    Between {
        /// The index: a name or a key pattern.
        index: Box<Hint>,
        /// First key, inclusive: a value for each field of the index; empty for no bound.
        min: Document,
        /// Last key, exclusive: a value for each field of the index; empty for no bound.
        max: Document,
    },
}
