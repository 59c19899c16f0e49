//! Which place belongs to which space, as rows of a tree of its own: place 0. A space is made and
//! dropped by an entry of the journal, which changes these rows, so that a follower of the journal
//! learns of it in order with all commits, and nothing else has to be made durable.
//!
//! ```text
//!  key    number of a place u64      value   name of its space
//!  key    "next"                     value   the next number u64: none is ever used again
//! ```

use bytes::Bytes;
use journal::Mutation;
use lsm_tree::{AbstractTree as _, Guard as _};
use store::{Error, Kind, Space};

use crate::{errors::from_tree, place::Place};

/// The place of the rows.
pub(crate) const DIRECTORY: u64 = 0;
/// The key of the next number.
const NEXT: &[u8] = b"next";
/// The first number that a space gets.
const FIRST: u64 = 1;

/// What the rows say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Places and their spaces.
    pub(crate) spaces: Vec<(u64, Space)>,
    /// No place has had this number.
    pub(crate) next: u64,
}

/// A change of the directory, as an entry has it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A space got a place.
    Made(u64, Space),
    /// The number after the last place.
    Next(u64),
    /// A place is gone.
    Gone(u64),
}

/// What an entry has to say when a space gets a place.
pub(crate) fn record_made(number: u64, space: Space) -> Vec<Mutation> {
    let key = Bytes::copy_from_slice(&number.to_be_bytes());
    let made = Mutation { space: DIRECTORY, key, value: Some(space.name().into()) };
    vec![made, record_next(number + 1)]
}

/// What an entry has to say for this to be the next number of a place.
pub(crate) fn record_next(number: u64) -> Mutation {
    let value = Some(Bytes::copy_from_slice(&number.to_be_bytes()));
    Mutation { space: DIRECTORY, key: Bytes::from_static(NEXT), value }
}

/// What an entry has to say when a place is gone.
pub(crate) fn record_gone(number: u64) -> Vec<Mutation> {
    let key = Bytes::copy_from_slice(&number.to_be_bytes());
    vec![Mutation { space: DIRECTORY, key, value: None }]
}

/// What a row of the directory says.
pub(crate) fn change_of(key: &[u8], value: Option<&[u8]>) -> Result<Change, Error> {
    let damaged = || Error::new(Kind::Corrupt, "a record of the trees' directory is damaged");
    let number = |bytes: &[u8]| -> Option<u64> { Some(u64::from_be_bytes(bytes.try_into().ok()?)) };
    if key == NEXT {
        return value.and_then(number).map(Change::Next).ok_or_else(damaged);
    }
    let place = number(key).ok_or_else(damaged)?;
    let Some(name) = value else { return Ok(Change::Gone(place)) };
    let space = std::str::from_utf8(name).ok().and_then(Space::parse).ok_or_else(damaged)?;
    Ok(Change::Made(place, space))
}

/// Reads all rows.
pub(crate) fn read_all(directory: &Place) -> Result<Listed, Error> {
    let context = |error: lsm_tree::Error| from_tree("read the trees' directory", &error);
    let mut listed = Listed { next: FIRST, ..Listed::default() };
    for row in directory.tree.range::<&[u8], _>(.., u64::MAX, None) {
        let (key, value) = row.into_inner().map_err(context)?;
        match change_of(&key, Some(&value))? {
            Change::Made(number, space) => listed.spaces.push((number, space)),
            Change::Next(number) => listed.next = number,
            Change::Gone(_) => {}
        }
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_say_what_was_recorded() {
        let read = |records: Vec<Mutation>| -> Vec<Change> {
            let change = |of: Mutation| change_of(&of.key, of.value.as_deref()).unwrap();
            records.into_iter().map(change).collect()
        };
        let space = Space::Rows(7);
        assert_eq!(read(record_made(5, space)), [Change::Made(5, space), Change::Next(6)]);
        assert_eq!(read(record_gone(5)), [Change::Gone(5)]);
        for (key, value) in [(&b"x"[..], &b"rows-7"[..]), (b"next", b"1"), (&[0; 8], b"rows")] {
            assert_eq!(change_of(key, Some(value)).unwrap_err().kind, Kind::Corrupt);
        }
    }
}
