//! What a tree asks its owner: where values belong, which ones may go, and whether the log of the
//! owner is durable far enough.

use std::fmt;

use crate::error::Error;

/// The end of a value: the rule that ends it and the point at which the rule does so, in the unit
/// of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The rule that ends the value. Ends of different kinds are never compared.
    pub kind: u32,
    /// The point at which the value ends, such as a second since 1970. Ends of one kind are ordered
    /// by this number, and [`Hooks::has_ended`] is asked about it. The tree does not interpret it.
    pub at: i64,
}

/// The way in which a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Number of bytes at the start of the value that stay with the key in any case; the filter
    /// and [`Hooks::place`] need no more than these.
    pub inline: usize,
    /// End of the value; `None` if it is not known to end.
    pub end: Option<End>,
    /// Group of the value among those of its kind. Bodies of a group share body files, so values
    /// of a group should end at about the same time. Adjacent groups may be joined.
    pub group: u64,
}

/// Returns whether a flush or compaction drops the value of a key, which is its inline part if the
/// rest is stored apart.
pub type DropFilter = Box<dyn Fn(&[u8], &[u8]) -> bool + Send>;

/// The owner of a tree. All methods are pure functions of their arguments except for time: a value
/// that was dropped or has ended once has ended for ever.
pub trait Hooks: Send + Sync + 'static {
    /// Returns how a value is stored. The result for the inline part of a value has the same end as
    /// the result for the value.
    fn place(&self, space: u64, key: &[u8], value: &[u8]) -> Placement;

    /// Returns the filter for one flush or compaction of a space; `None` keeps everything. It is
    /// applied to all versions of a key, also if open snapshots see them.
    fn filter(&self, space: u64) -> Option<DropFilter>;

    /// Returns whether every value of the space with an end of this kind at or before `end.at` may
    /// be dropped.
    fn has_ended(&self, space: u64, end: End) -> bool;

    /// Makes the owner's log durable up to the batch with this number. Called before a flush stores
    /// the batch in a table, so that no table is ahead of the log.
    fn sync_log(&self, number: u64) -> Result<(), Error>;
}

impl fmt::Debug for dyn Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}

/// Hooks that keep every value whole and for ever, and need no log.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepAll;

impl Hooks for KeepAll {
    fn place(&self, _: u64, _: &[u8], value: &[u8]) -> Placement {
        Placement { inline: value.len(), end: None, group: 0 }
    }

    fn filter(&self, _: u64) -> Option<DropFilter> {
        None
    }

    fn has_ended(&self, _: u64, _: End) -> bool {
        false
    }

    fn sync_log(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
}
