//! Checks that the pieces of a base belong together, when a store is created from them or a backup
//! is verified.

use std::collections::HashSet;

use bytes::Bytes;
use journal::Entry;
use store::{Error, Kind};

use crate::directory::{DIRECTORY, DirectoryChange, change_of};

/// Checks the pieces of one base in order.
#[derive(Debug, Default)]
pub struct PieceChecker {
    /// The last entry that was checked, without its rows.
    last: Option<Entry>,
    /// Numbers of the trees that the directory lists.
    space_trees: HashSet<u64>,
}

impl PieceChecker {
    /// Decodes the next piece. All pieces must be of one moment, with rows of trees that the
    /// directory in earlier pieces lists.
    pub fn take(&mut self, piece: &Bytes) -> Result<Entry, Error> {
        let corrupt = |why: String| Error::new(Kind::Corrupt, why);
        let entry = Entry::decode(piece)?;
        let Entry { mutations, .. } = entry;
        let at = Entry { mutations: Vec::new(), ..entry };
        if self.last.as_ref().is_some_and(|before| *before != at) {
            return Err(corrupt("pieces of a base belong to different entries".to_owned()));
        }
        for row in &mutations {
            if row.space != DIRECTORY {
                if !self.space_trees.contains(&row.space) {
                    return Err(corrupt(format!(
                        "a base has rows of the unknown tree {}",
                        row.space
                    )));
                }
                continue;
            }
            match change_of(&row.key, row.value.as_deref())? {
                DirectoryChange::Created(DIRECTORY, _) => {
                    return Err(corrupt("a base has two tree directories".to_owned()));
                }
                DirectoryChange::Created(number, _) => {
                    self.space_trees.insert(number);
                }
                DirectoryChange::Next(_) | DirectoryChange::Dropped(_) => {}
            }
        }
        self.last = Some(at.clone());
        Ok(Entry { mutations, ..at })
    }

    /// Ends the check after all pieces. Returns the last entry of the base, without rows.
    pub fn finish(self) -> Result<Entry, Error> {
        self.last.ok_or_else(|| Error::new(Kind::Corrupt, "a base without pieces"))
    }
}

#[cfg(test)]
mod tests {
    use journal::Mutation;
    use store::{Space, Stamp};

    use super::*;
    use crate::directory::{record_made, record_next};

    fn piece(n: u64, mutations: Vec<Mutation>) -> Bytes {
        let entry =
            Entry { n, last: Stamp { seq: 1, at_ms: 1 }, under: 0, dropped: Vec::new(), mutations };
        entry.encode().unwrap().bytes().clone()
    }

    fn row(space: u64) -> Vec<Mutation> {
        vec![Mutation { space, key: Bytes::from_static(b"k"), value: Some(Bytes::new()) }]
    }

    #[test]
    fn pieces_that_do_not_belong_together_are_refused() {
        let directory = || piece(5, record_made(1, Space::Catalog));
        for (pieces, want) in [
            (vec![directory(), piece(5, row(1))], None),
            (vec![piece(5, vec![record_next(1)])], None),
            (vec![], Some("without pieces")),
            (vec![directory(), piece(6, row(1))], Some("different entries")),
            (vec![directory(), piece(5, row(2))], Some("unknown tree 2")),
            (vec![piece(5, row(1)), directory()], Some("unknown tree 1")),
            (vec![piece(5, record_made(0, Space::Catalog))], Some("two tree directories")),
            (vec![piece(5, row(DIRECTORY))], Some("damaged")),
            (vec![Bytes::from_static(b"junk")], Some("")),
        ] {
            let mut checker = PieceChecker::default();
            let taken = pieces.iter().try_for_each(|piece| checker.take(piece).map(drop));
            match (taken.and_then(|()| checker.finish()), want) {
                (Ok(last), None) => assert_eq!(last.n, 5),
                (Err(error), Some(want)) => assert!(error.to_string().contains(want), "{error}"),
                (got, want) => panic!("{got:?} instead of {want:?}"),
            }
        }
    }
}
