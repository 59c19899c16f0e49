//! Rows of a table of workloads, and their selection by name. The code is independent of the
//! protocol. A new workload is a row in its protocol's table and a file in its folder `work`.

use crate::error::{Error, Result};

/// A workload with its name. `W` is the protocol's type of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<W> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) connections: usize,
    pub(crate) work: W,
}

pub(crate) const fn entry_row<W: Copy>(
    name: &'static str,
    about: &'static str,
    connections: usize,
    work: W,
) -> Entry<W> {
    Entry { name, about, connections, work }
}

/// Returns the rows of these names, in order; `all` selects the rows for which `in_all` returns
/// true. An unknown name is an error that lists the known ones.
pub(crate) fn find_named<W>(
    table: &'static [Entry<W>],
    names: &[String],
    in_all: impl Fn(&Entry<W>) -> bool,
) -> Result<Vec<&'static Entry<W>>> {
    let mut found = Vec::new();
    for name in names {
        match by_name(table, name) {
            _ if name == "all" => found.extend(table.iter().filter(|entry| in_all(entry))),
            Some(entry) => found.push(entry),
            None => return Err(unknown_name(table, name)),
        }
    }
    Ok(found)
}

/// Lists names and descriptions, one per line.
pub(crate) fn list_entries<W>(table: &[Entry<W>]) -> String {
    let width = table.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    table.iter().map(|entry| format!("{:width$}  {}\n", entry.name, entry.about)).collect()
}

fn by_name<W>(table: &'static [Entry<W>], name: &str) -> Option<&'static Entry<W>> {
    table.iter().find(|entry| entry.name == name)
}

/// Returns the error for an unknown name.
fn unknown_name<W>(table: &[Entry<W>], name: &str) -> Error {
    let names: Vec<&str> = table.iter().map(|entry| entry.name).collect();
    Error::Usage(format!("there is no workload {name:?}; there are {}, and all", names.join(", ")))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Checks the invariants of a table.
    pub(crate) fn check<W>(table: &'static [Entry<W>]) {
        for entry in table {
            let found = by_name(table, entry.name).unwrap();
            assert!(std::ptr::eq(found, entry), "duplicate {}", entry.name);
            assert!(0 < entry.connections, "{}", entry.name);
            assert_ne!(entry.name, "all");
        }
    }

    const TABLE: &[Entry<u8>] = &[entry_row("a", "first", 1, 1), entry_row("long", "second", 2, 2)];

    #[test]
    fn rows_are_chosen() {
        check(TABLE);
        for (names, want) in [
            (&["a"][..], Ok(&[1][..])),
            (&["long", "a"], Ok(&[2, 1])),
            (&["all"], Ok(&[2])),
            (&["all", "a"], Ok(&[2, 1])),
            (&["a", "b"], Err("there is no workload \"b\"; there are a, long, and all")),
        ] {
            let typed: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let got = find_named(TABLE, &typed, |entry| entry.work == 2);
            let got = got.map(|rows| rows.iter().map(|entry| entry.work).collect::<Vec<_>>());
            match (got, want) {
                (Ok(got), Ok(want)) => assert_eq!(got, want, "{names:?}"),
                (Err(got), Err(want)) => assert_eq!(got.to_string(), want),
                (got, want) => panic!("{names:?}: {got:?} instead of {want:?}"),
            }
        }
    }

    #[test]
    fn names_stand_before_what_they_mean() {
        assert_eq!(list_entries(TABLE), "a     first\nlong  second\n");
    }
}
