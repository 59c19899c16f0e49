//! The table that finds the row of a command by its name. The door hands it down as data, so that
//! messages, calls and shared arguments can ask it without knowing any command: no list of names and no
//! match on names decides a fact about a command anywhere else.

use document::DocRef;

use crate::command_row::{Access, CommandRow};

/// A command of MongoDB that is known and not there yet.
#[derive(Clone, Copy, Debug)]
pub struct NotYet {
    /// Its name.
    pub name: &'static str,
    /// What it belongs to, such as `transactions`.
    pub area: &'static str,
    /// Even the error it gets may be compressed; not so where the command carries credentials.
    pub compress: bool,
    /// It is in version 1 of the Stable API.
    pub(crate) in_api: bool,
}

impl NotYet {
    /// It is in version 1 of the Stable API.
    pub(crate) const fn in_api(self) -> Self {
        Self { in_api: true, ..self }
    }
}

/// Carries credentials in servers before 4.0, so its error is never compressed; newer ones do not
/// know it, and neither does this one.
const OLD_CREDENTIALS: &str = "getnonce";

/// A row, and its place in the table: counters and latencies are kept by place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) place: usize,
    pub(crate) row: &'static CommandRow,
}

/// The table of commands as everybody but the dispatcher sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandTable {
    pub(crate) rows: &'static [CommandRow],
    pub(crate) not_yet: &'static [NotYet],
    /// The place of a name in `rows`, found without a hash.
    pub(crate) place: fn(&str) -> Option<usize>,
}

impl CommandTable {
    /// The row of a command.
    pub(crate) fn find(&self, name: &str) -> Option<Known> {
        let place = (self.place)(name)?;
        Some(Known { place, row: self.rows.get(place)? })
    }

    /// The name that a command has beside its aliases; a name that is not in the table is its own.
    pub(crate) fn name_of<'a>(&self, name: &'a str) -> &'a str {
        let row = self.find(name).map(|known| known.row);
        row.map_or(name, |row| row.alias_of.unwrap_or(row.name))
    }

    /// The row of the command that a body names in its first field.
    pub(crate) fn find_body(&self, body: DocRef<'_>) -> Option<Known> {
        self.find(first_name(body))
    }

    /// A command that is known and not there yet.
    pub(crate) fn find_not_yet(&self, name: &str) -> Option<&'static NotYet> {
        self.not_yet.iter().find(|row| row.name == name)
    }

    /// Whether a command changes nothing. One that is not in the table counts as a change, since
    /// nobody has said what it does.
    pub(crate) fn changes_nothing(&self, body: DocRef<'_>) -> bool {
        match self.find_body(body).map(|known| known.row.access) {
            Some(Access::Reads) => true,
            Some(Access::ByArguments(changes)) => !changes(body),
            Some(Access::Writes) | None => false,
        }
    }

    /// Whether the reply to a command may be compressed. That of an unknown one may.
    pub(crate) fn may_compress(&self, body: DocRef<'_>) -> bool {
        let name = first_name(body);
        match (self.find(name), self.find_not_yet(name)) {
            (Some(known), _) => known.row.compress,
            (None, Some(not_yet)) => not_yet.compress,
            (None, None) => name != OLD_CREDENTIALS,
        }
    }
}

/// The name of a command: that of its first field, `""` of an empty body.
pub(crate) fn first_name(body: DocRef<'_>) -> &str {
    body.iter().next().map_or("", |(name, _)| name)
}
