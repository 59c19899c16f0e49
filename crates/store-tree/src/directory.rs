//! The directory: the number of each space in the tree, as rows of space 0 of the tree. Creating or dropping a
//! space is a journal entry that changes these rows, so that followers apply the change in commit
//! order and nothing else must be made durable.
//!
//! ```text
//!  key    number u64                 value   name of the space
//!  key    "next"                     value   the next number u64: numbers are never reused
//! ```

use bytes::Bytes;
use journal::Mutation;
use store::{Error, Kind, Space};
use tree::{Caching, Direction, Snapshot};

use crate::errors::from_tree;

/// Number of the space of the tree that contains the directory.
pub(crate) const DIRECTORY: u64 = 0;
/// Key of the row with the next unused tree number.
const NEXT: &[u8] = b"next";
/// The first number that a space may get.
const FIRST: u64 = 1;

/// The contents of the directory of spaces.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectoryContents {
    /// Spaces with their numbers in the tree.
    pub(crate) spaces: Vec<(u64, Space)>,
    /// The next unused number of a space.
    pub(crate) next: u64,
}

/// A change that an entry makes to the directory of spaces.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DirectoryChange {
    /// A space was created with this number.
    Created(u64, Space),
    /// The next unused number was changed.
    Next(u64),
    /// The space with this number was dropped.
    Dropped(u64),
}

/// Returns the mutations that record a new space.
pub(crate) fn record_made(number: u64, space: Space) -> Vec<Mutation> {
    let key = Bytes::copy_from_slice(&number.to_be_bytes());
    let made = Mutation { space: DIRECTORY, key, value: Some(space.name().into()) };
    vec![made, record_next(number + 1)]
}

/// Returns the mutation that records the next unused number.
pub(crate) fn record_next(number: u64) -> Mutation {
    let value = Some(Bytes::copy_from_slice(&number.to_be_bytes()));
    Mutation { space: DIRECTORY, key: Bytes::from_static(NEXT), value }
}

/// Returns the mutation that records a dropped space.
pub(crate) fn record_gone(number: u64) -> Vec<Mutation> {
    let key = Bytes::copy_from_slice(&number.to_be_bytes());
    vec![Mutation { space: DIRECTORY, key, value: None }]
}

/// Decodes a row of the directory of spaces.
pub(crate) fn change_of(key: &[u8], value: Option<&[u8]>) -> Result<DirectoryChange, Error> {
    let damaged = || Error::new(Kind::Corrupt, "a record of the directory of spaces is damaged");
    let number = |bytes: &[u8]| -> Option<u64> { Some(u64::from_be_bytes(bytes.try_into().ok()?)) };
    if key == NEXT {
        return value.and_then(number).map(DirectoryChange::Next).ok_or_else(damaged);
    }
    let number = number(key).ok_or_else(damaged)?;
    let Some(name) = value else { return Ok(DirectoryChange::Dropped(number)) };
    let space = std::str::from_utf8(name).ok().and_then(Space::parse).ok_or_else(damaged)?;
    Ok(DirectoryChange::Created(number, space))
}

pub(crate) fn read_all(snapshot: &Snapshot) -> Result<DirectoryContents, Error> {
    let context = |error: tree::Error| from_tree("read the directory of spaces", &error);
    let mut listed = DirectoryContents { next: FIRST, ..DirectoryContents::default() };
    let rows = snapshot.scan(DIRECTORY, b"", None, Direction::Forward, Caching::Bypass);
    for row in rows.map_err(context)? {
        let (key, value) = row.map_err(context)?;
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
