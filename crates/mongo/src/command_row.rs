//! What is known about a command besides how it runs: one row of facts per command.
//!
//! The rows themselves stand in `commands/table.rs`, beside the functions that run them, and are found by
//! `command_table.rs`.

use document::DocRef;

use crate::{
    rights::{Asked, Rights},
    wire::Message,
};

/// Stands for arguments of any name in [`CommandRow::fields`].
pub(crate) const ANY_ARGUMENT: &str = "*";

/// Whether a command changes anything: a document, a collection, a setting, the database clock or
/// an operation of another client. A sender who may only read may send what changes nothing.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// It never changes anything.
    Reads,
    /// It may change something.
    Writes,
    /// Its arguments decide; the function returns whether this body would change something.
    ByArguments(fn(DocRef<'_>) -> bool),
}

/// Whether a command belongs to version 1 of MongoDB's Stable API, which `apiStrict` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiVersion1 {
    /// It does not.
    Outside,
    /// It does, except for these of its arguments; `a.b` is the field `b` of what `a` holds.
    Except(&'static [&'static str]),
}

/// The read concern levels that a command accepts besides `local`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadLevels {
    /// No others.
    Local,
    /// All but `snapshot`.
    ExceptSnapshot,
    /// All.
    All,
}

/// Which server runs a command, in a cluster of several shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// That of its database.
    Database,
    /// That of the database of the collection that its first argument names.
    Namespace,
    /// That of the database of the first collection in `nsInfo`.
    Namespaces,
    /// That of the first shard, which speaks for all; one that it asks answers itself.
    First,
    /// That of the first shard where the message carries a login, and any otherwise.
    FirstForLogins,
    /// Any.
    Any,
}

/// What a command counts as where kinds of work are told apart: in `currentOp` and in the
/// latencies and tickets of `serverStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// `find`.
    Query,
    /// `getMore`.
    GetMore,
    /// Another command that reads documents.
    Read,
    /// `insert`.
    Insert,
    /// `update`.
    Update,
    /// `delete`.
    Remove,
    /// Another command that writes documents.
    Write,
    /// Everything else.
    Command,
}

impl Work {
    /// The value of `op` in an entry of `currentOp`.
    pub(crate) fn op_name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::GetMore => "getmore",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Remove => "remove",
            Self::Read | Self::Write | Self::Command => "command",
        }
    }

    /// Whether it counts among the reads of `serverStatus`.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Query | Self::GetMore | Self::Read)
    }

    /// Whether it counts among the writes of `serverStatus`.
    pub(crate) fn is_write(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Remove | Self::Write)
    }
}

/// The facts about one command. A column that comes later (whether it may run in a transaction) is one
/// more field with its default in [`CommandRow::with_access`]. There is no default for the rights that a
/// command asks for: a row cannot be written without them.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow {
    /// Its name, as the first field of a command spells it.
    pub name: &'static str,
    /// Arguments it knows beside those that all commands share; others are error 40415.
    pub fields: &'static [&'static str],
    /// The command that it is another name of.
    pub(crate) alias_of: Option<&'static str>,
    /// What it does, in a few words.
    pub help: &'static str,
    /// Whether it changes anything.
    pub access: Access,
    /// What it asks of its sender where clients have to log in.
    pub(crate) rights: Rights,
    /// It runs on database `admin` only.
    pub admin_only: bool,
    /// It may come in an OP_QUERY, the message that drivers send before they know the server; those of
    /// old versions log in by it.
    pub legacy: bool,
    /// Its reply may be compressed. The specification of OP_COMPRESSED forbids it for handshakes
    /// and for what carries credentials.
    pub compress: bool,
    /// Its place in version 1 of the Stable API.
    pub api: ApiVersion1,
    /// Its arguments hold passwords: they are shown nowhere.
    pub hides_arguments: bool,
    /// It is told to stop when its client closes the connection; others are finished.
    pub ends_with_client: bool,
    /// It may wait for news of the server's state (`maxAwaitTimeMS` in a handshake).
    pub awaits_state: bool,
    /// It takes a `writeConcern`, even if it writes nothing.
    pub write_concern: bool,
    /// Levels of `readConcern` it takes.
    pub read_levels: ReadLevels,
    /// Arguments that all commands share are checked as strictly as its own.
    pub strict_shared: bool,
    /// The documents it brings are stored as the bytes they came in: parsing them takes no memory.
    pub stores_bytes: bool,
    /// Its outcome can depend on which documents are live. The tests for expired documents need a
    /// path for each such command, so this is assumed where a row does not say otherwise.
    pub sees_documents: bool,
    /// A router takes it with a `txnNumber`, and does it once however often it is sent.
    pub numbered: bool,
    /// It goes on with what the server that gets it has begun, which no other can do.
    pub continues: bool,
    /// The argument that holds the name of its collection; `None`: the first one.
    pub collection_in: Option<&'static str>,
    /// What `currentOp` shows as the collection where the command names none.
    pub without_collection: &'static str,
    /// What it counts as.
    pub work: Work,
    /// Which server of a cluster runs it.
    pub home: Home,
}

impl CommandRow {
    /// A row with this access and with defaults in all other columns.
    const fn with_access(access: Access, rights: Rights) -> Self {
        Self {
            name: "",
            fields: &[],
            alias_of: None,
            help: "",
            access,
            rights,
            admin_only: false,
            legacy: false,
            compress: true,
            hides_arguments: false,
            api: ApiVersion1::Outside,
            ends_with_client: false,
            awaits_state: false,
            write_concern: true,
            read_levels: ReadLevels::Local,
            strict_shared: false,
            stores_bytes: false,
            sees_documents: true,
            numbered: false,
            continues: false,
            collection_in: None,
            without_collection: "$cmd",
            work: Work::Command,
            home: Home::Database,
        }
    }

    /// A command of this row, as its rights are looked at.
    pub(crate) fn asked<'a>(
        &self,
        body: DocRef<'a>,
        database: &'a str,
        message: &'a Message,
    ) -> Asked<'a> {
        let collection_in = self.collection_in.unwrap_or(self.name);
        Asked { name: self.name, collection_in, body, database, message }
    }

    /// A command that changes nothing.
    pub(crate) const fn reads(rights: Rights) -> Self {
        Self::with_access(Access::Reads, rights)
    }

    /// A command that may change something.
    pub(crate) const fn writes(rights: Rights) -> Self {
        Self::with_access(Access::Writes, rights)
    }

    /// A command that changes something if `changes` says so of its body.
    pub(crate) const fn by_arguments(changes: fn(DocRef<'_>) -> bool, rights: Rights) -> Self {
        Self::with_access(Access::ByArguments(changes), rights)
    }

    /// It may run before a client has logged in.
    pub const fn before_login(&self) -> bool {
        matches!(self.rights, Rights::Open)
    }

    /// It is another name of this command.
    pub(crate) const fn alias_of(self, command: &'static str) -> Self {
        Self { alias_of: Some(command), ..self }
    }

    /// It runs on database `admin` only.
    pub(crate) const fn on_admin(self) -> Self {
        Self { admin_only: true, ..self }
    }

    /// It says who the server is: drivers send it in the oldest form, uncompressed, and may ask it
    /// to wait for another state of the server.
    pub(crate) const fn handshake(self) -> Self {
        let home = Home::FirstForLogins;
        Self { compress: false, awaits_state: true, home, ..self.in_old_form() }
    }

    /// It may come in an OP_QUERY: drivers of old versions shake hands and log in by it.
    pub(crate) const fn in_old_form(self) -> Self {
        Self { legacy: true, ..self }
    }

    /// It carries credentials: its reply is never compressed, and nobody is shown its arguments.
    pub(crate) const fn credentials(self) -> Self {
        Self { compress: false, hides_arguments: true, ..self }
    }

    /// It is about users and roles, which the first shard has.
    pub(crate) const fn of_users(self) -> Self {
        Self { home: Home::First, ..self.without_documents() }
    }

    /// It is in version 1 of the Stable API with all its arguments but these.
    pub(crate) const fn in_api(self, except: &'static [&'static str]) -> Self {
        Self { api: ApiVersion1::Except(except), ..self }
    }

    /// Nobody needs it once its client has gone.
    pub(crate) const fn ends_with_client(self) -> Self {
        Self { ends_with_client: true, ..self }
    }

    /// A `writeConcern` beside it is an error.
    pub(crate) const fn no_write_concern(self) -> Self {
        Self { write_concern: false, ..self }
    }

    /// It reads data at these levels of a read concern.
    pub(crate) const fn at_levels(self, read_levels: ReadLevels) -> Self {
        Self { read_levels, ..self }
    }

    /// Arguments that all commands share are checked as strictly as its own.
    pub(crate) const fn strict_shared(self) -> Self {
        Self { strict_shared: true, ..self }
    }

    /// Its documents are stored as the bytes they came in.
    pub(crate) const fn stores_bytes(self) -> Self {
        Self { stores_bytes: true, ..self }
    }

    /// It neither reads, counts nor changes documents.
    pub(crate) const fn without_documents(self) -> Self {
        Self { sees_documents: false, ..self }
    }

    /// With a number it is done once, however often it is sent.
    pub(crate) const fn numbered(self) -> Self {
        Self { numbered: true, ..self }
    }

    /// It goes on with what its server has begun.
    pub(crate) const fn continues(self) -> Self {
        Self { continues: true, ..self }
    }

    /// The name of its collection stands in this argument.
    pub(crate) const fn collection_in(self, argument: &'static str) -> Self {
        Self { collection_in: Some(argument), ..self }
    }

    /// What `currentOp` shows as the collection where the command names none.
    pub(crate) const fn without_collection(self, shown: &'static str) -> Self {
        Self { without_collection: shown, ..self }
    }

    /// This server of a cluster runs it.
    pub(crate) const fn home(self, home: Home) -> Self {
        Self { home, ..self }
    }

    /// It counts as this kind of work.
    pub(crate) const fn counted_as(self, work: Work) -> Self {
        Self { work, ..self }
    }
}
