//! The table that finds the row of a command by its name. It is passed down as data, so that
//! messages, calls and shared arguments can look up a command's properties without depending on
//! `commands`. No other list of names and no match on names decides a property of a command.

use document::DocRef;

use crate::command_row::{Access, CommandRow};

/// A MongoDB command that is known but not implemented yet.
#[derive(Clone, Copy, Debug)]
pub struct NotYet {
    /// Name of the command in MongoDB.
    pub name: &'static str,
    /// The feature of MongoDB to which the command belongs, such as `transactions`.
    pub area: &'static str,
    /// Whether the error reply to the command may be compressed; false if the command carries
    /// credentials.
    pub compress: bool,
}

/// An old command that carries credentials, so its error reply is never compressed. Servers since
/// 4.0, and this one, do not have the command.
const OLD_CREDENTIALS: &str = "getnonce";

/// A row, and its position in the table, by which counters and latencies are indexed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) position: usize,
    pub(crate) row: &'static CommandRow,
}

/// The command table without the functions that run the commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandTable {
    pub(crate) rows: &'static [CommandRow],
    pub(crate) not_yet: &'static [NotYet],
    /// Returns the position in `rows` of the command with this name.
    pub(crate) position: fn(&str) -> Option<usize>,
}

impl CommandTable {
    /// Returns the row of a command.
    pub(crate) fn find(&self, name: &str) -> Option<Known> {
        let position = (self.position)(name)?;
        Some(Known { position, row: self.rows.get(position)? })
    }

    /// Resolves an alias to the command's own name; returns an unknown name unchanged.
    pub(crate) fn name_of<'a>(&self, name: &'a str) -> &'a str {
        let row = self.find(name).map(|known| known.row);
        row.map_or(name, |row| row.alias_of.unwrap_or(row.name))
    }

    /// Returns the row of the command that a body names in its first field.
    pub(crate) fn find_body(&self, body: DocRef<'_>) -> Option<Known> {
        self.find(first_name(body))
    }

    /// Returns the description of a command that MongoDB has and this server does not implement
    /// yet; `None` for any other name.
    pub(crate) fn find_not_yet(&self, name: &str) -> Option<&'static NotYet> {
        self.not_yet.iter().find(|row| row.name == name)
    }

    /// Returns whether a command changes nothing; an unknown command counts as changing something.
    pub(crate) fn changes_nothing(&self, body: DocRef<'_>) -> bool {
        match self.find_body(body).map(|known| known.row.access) {
            Some(Access::Reads) => true,
            Some(Access::ByArguments(changes)) => !changes(body),
            Some(Access::Writes) | None => false,
        }
    }

    /// Returns whether the reply to a command may be compressed; true for an unknown command.
    pub(crate) fn may_compress(&self, body: DocRef<'_>) -> bool {
        let name = first_name(body);
        match (self.find(name), self.find_not_yet(name)) {
            (Some(known), _) => known.row.compress,
            (None, Some(not_yet)) => not_yet.compress,
            (None, None) => name != OLD_CREDENTIALS,
        }
    }
}

/// Returns the name of a command, which is the name of its first field, or `""` if the body is
/// empty.
pub(crate) fn first_name(body: DocRef<'_>) -> &str {
    body.iter().next().map_or("", |(name, _)| name)
}
