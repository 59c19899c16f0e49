//! The directory: which tree belongs to which space, as rows of tree 0. Creating or dropping a
//! space is a journal entry that changes these rows, so that followers apply the change in commit
//! order and nothing else must be made durable.
//!
//! ```text
//!  key    number of a tree u64       value   name of its space
//!  key    "next"                     value   the next number u64: numbers are never reused
//! ```

use bytes::Bytes;
use journal::Mutation;
use lsm_tree::{AbstractTree as _, Guard as _};
use store::{Error, Kind, Space};

use crate::{errors::from_tree, space_tree::SpaceTree};

/// Number of the tree that contains the directory of spaces (which tree belongs to which space).
pub(crate) const DIRECTORY: u64 = 0;
/// Key of the row with the next unused tree number.
const NEXT: &[u8] = b"next";
/// The first tree number that a space may get.
const FIRST: u64 = 1;

/// The contents of the directory of spaces.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectoryContents {
    /// Tree numbers and their spaces.
    pub(crate) spaces: Vec<(u64, Space)>,
    /// The next unused tree number.
    pub(crate) next: u64,
}

/// A change that an entry makes to the directory of spaces.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DirectoryChange {
    /// A space was created with this tree number.
    Created(u64, Space),
    /// The next unused tree number was changed.
    Next(u64),
    /// The tree with this number was dropped.
    Dropped(u64),
}

/// Returns the mutations that record a new tree.
pub(crate) fn record_made(number: u64, space: Space) -> Vec<Mutation> {
    let key = Bytes::copy_from_slice(&number.to_be_bytes());
    let made = Mutation { space: DIRECTORY, key, value: Some(space.name().into()) };
    vec![made, record_next(number + 1)]
}

/// Returns the mutation that records the next tree number.
pub(crate) fn record_next(number: u64) -> Mutation {
    let value = Some(Bytes::copy_from_slice(&number.to_be_bytes()));
    Mutation { space: DIRECTORY, key: Bytes::from_static(NEXT), value }
}

/// Returns the mutation that records a dropped tree.
pub(crate) fn record_gone(number: u64) -> Vec<Mutation> {
    let key = Bytes::copy_from_slice(&number.to_be_bytes());
    vec![Mutation { space: DIRECTORY, key, value: None }]
}

/// Decodes a row of the directory of spaces.
pub(crate) fn change_of(key: &[u8], value: Option<&[u8]>) -> Result<DirectoryChange, Error> {
    let damaged = || Error::new(Kind::Corrupt, "a record of the tree directory is damaged");
    let number = |bytes: &[u8]| -> Option<u64> { Some(u64::from_be_bytes(bytes.try_into().ok()?)) };
    if key == NEXT {
        return value.and_then(number).map(DirectoryChange::Next).ok_or_else(damaged);
    }
    let number = number(key).ok_or_else(damaged)?;
    let Some(name) = value else { return Ok(DirectoryChange::Dropped(number)) };
    let space = std::str::from_utf8(name).ok().and_then(Space::parse).ok_or_else(damaged)?;
    Ok(DirectoryChange::Created(number, space))
}

pub(crate) fn read_all(directory: &SpaceTree) -> Result<DirectoryContents, Error> {
    let context = |error: lsm_tree::Error| from_tree("read the tree directory", &error);
    let mut listed = DirectoryContents { next: FIRST, ..DirectoryContents::default() };
    for row in directory.tree.range::<&[u8], _>(.., u64::MAX, None) {
        let (key, value) = row.into_inner().map_err(context)?;
        match change_of(&key, Some(&value))? {
            DirectoryChange::Created(number, space) => listed.spaces.push((number, space)),
            DirectoryChange::Next(number) => listed.next = number,
            DirectoryChange::Dropped(_) => {}
        }
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_say_what_was_recorded() {
        let read = |records: Vec<Mutation>| -> Vec<DirectoryChange> {
            let change = |of: Mutation| change_of(&of.key, of.value.as_deref()).unwrap();
            records.into_iter().map(change).collect()
        };
        let space = Space::Rows(7);
        assert_eq!(
            read(record_made(5, space)),
            [DirectoryChange::Created(5, space), DirectoryChange::Next(6)]
        );
        assert_eq!(read(record_gone(5)), [DirectoryChange::Dropped(5)]);
        for (key, value) in [(&b"x"[..], &b"rows-7"[..]), (b"next", b"1"), (&[0; 8], b"rows")] {
            assert_eq!(change_of(key, Some(value)).unwrap_err().kind, Kind::Corrupt);
        }
    }
}
