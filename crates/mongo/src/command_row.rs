//! The properties of a command besides its implementation: one row per command.
//!
//! The rows are in `commands/table.rs`, beside the functions that run the commands, and are looked
//! up by `command_table.rs`.

use document::DocRef;

use crate::{
    rights::{CommandRequest, Rights},
    wire::Message,
};

/// The wildcard in [`CommandRow::fields`]: the command accepts arguments of any name.
pub(crate) const ANY_ARGUMENT: &str = "*";

/// Whether a command changes anything: a document, a collection, a setting, the database clock or
/// an operation of another client. A read-only sender may send commands that change nothing.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// The command never changes anything.
    Reads,
    /// The command may change something.
    Writes,
    /// The arguments decide; the function returns whether this body would change something.
    ByArguments(fn(DocRef<'_>) -> bool),
}

/// Whether a command belongs to version 1 of MongoDB's Stable API, which `apiStrict` requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiVersion1 {
    /// The command is not part of version 1.
    Outside,
    /// The command is part of version 1, except for these arguments; `a.b` is the field `b` within
    /// `a`.
    Except(&'static [&'static str]),
}

/// The read concern levels that a command accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadLevels {
    /// The command accepts only the level `local`.
    Local,
    /// The command accepts all levels except `snapshot`.
    ExceptSnapshot,
    /// The command accepts all levels.
    All,
}

/// Whether a command may run in a transaction of several statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTransactions {
    /// The command cannot run in a transaction.
    No,
    /// The command may run in a transaction.
    Yes,
    /// The command may run in a transaction, but not as its first command.
    Later,
    /// The command ends a transaction.
    Ends,
}

/// Server of a sharded cluster that runs a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The server that owns the database in which the command runs.
    Database,
    /// The owner of the database of the collection that its first argument names.
    Namespace,
    /// The owner of the database of the first collection in `nsInfo`.
    Namespaces,
    /// The owner of the first shard, which answers for all shards. A request from one shard to
    /// another is answered locally.
    First,
    /// The owner of the first shard if the message carries a login, otherwise any server.
    FirstForLogins,
    /// Any server of the cluster.
    Any,
}

/// The category of a command in `currentOp` and in the latencies and tickets of `serverStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The command `find`, a query.
    Query,
    /// The command `getMore`, which continues a cursor.
    GetMore,
    /// Another command that reads documents.
    Read,
    /// The command `insert`, which adds documents.
    Insert,
    /// The command `update`, which edits documents.
    Update,
    /// The command `delete`, which removes documents.
    Remove,
    /// Another command that writes documents.
    Write,
    /// Any other command, such as `ping`.
    Command,
}

impl Work {
    /// Returns the value of `op` in an entry of `currentOp`.
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

    /// Returns whether the command counts among the reads of `serverStatus`.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Query | Self::GetMore | Self::Read)
    }

    /// Returns whether the command counts among the writes of `serverStatus`.
    pub(crate) fn is_write(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Remove | Self::Write)
    }
}

/// The properties of one command. A new property is one more field with a default in
/// [`CommandRow::with_access`]. Rights have no default, so that
/// a row cannot be written without them.
#[derive(Clone, Copy, Debug)]
pub struct CommandRow {
    /// Name of the command, as in the first field of its body.
    pub name: &'static str,
    /// The command's own arguments, besides the arguments that all commands share. Any other
    /// argument fails with 40415.
    pub fields: &'static [&'static str],
    /// The command for which this one is an alias; `None` if it is not an alias.
    pub(crate) alias_of: Option<&'static str>,
    /// A short description, which `listCommands` shows.
    pub help: &'static str,
    /// Whether the command changes anything.
    pub access: Access,
    /// The rights that the command requires if authentication is on.
    pub(crate) rights: Rights,
    /// Whether the command runs on database `admin` only.
    pub admin_only: bool,
    /// Whether the command is accepted as OP_QUERY. All drivers send their first handshake in this
    /// format, before they know the server, and old drivers also log in with it.
    pub legacy: bool,
    /// Whether the command's reply may be compressed. The specification of OP_COMPRESSED forbids it
    /// for handshakes and for commands that carry credentials.
    pub compress: bool,
    /// Whether the command is part of version 1 of the Stable API.
    pub api: ApiVersion1,
    /// Whether the command's arguments contain passwords, so that logs and replies omit them.
    pub hides_arguments: bool,
    /// Whether the command is stopped when its client disconnects. Without this a command runs to
    /// completion.
    pub ends_with_client: bool,
    /// Whether the command may wait for a change of the server's state (`maxAwaitTimeMS` in a
    /// handshake).
    pub awaits_state: bool,
    /// Whether the command accepts a `writeConcern`, even if it writes nothing.
    pub write_concern: bool,
    /// The levels of `readConcern` that the command accepts.
    pub read_levels: ReadLevels,
    /// Whether the arguments that all commands share are checked as strictly as the command's own.
    pub strict_shared: bool,
    /// Whether the documents in the command are stored as they arrive, so that parsing them takes
    /// no memory.
    pub stores_bytes: bool,
    /// Whether the command's result may depend on which documents are live. This is the default, so
    /// that a new command must be added to the tests for expired documents or declared otherwise.
    pub sees_documents: bool,
    /// Whether the command is accepted with a `txnNumber` and executed once, however often it is
    /// sent.
    pub retryable: bool,
    /// Whether the command may run in a transaction of several statements.
    pub in_transactions: InTransactions,
    /// Whether replies have the cluster time where the topology has one.
    pub cluster_time: bool,
    /// Whether the command continues something that this server has begun, such as a cursor, and
    /// cannot run on another server.
    pub continues: bool,
    /// The argument that names the collection; `None` for the first argument.
    pub collection_in: Option<&'static str>,
    /// The collection name that `currentOp` shows if the command names none.
    pub without_collection: &'static str,
    /// The command's category for statistics.
    pub work: Work,
    /// Server of a cluster that runs the command.
    pub home: Home,
}

impl CommandRow {
    /// Returns a row with this access and defaults in all other fields.
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
            retryable: false,
            in_transactions: InTransactions::No,
            cluster_time: true,
            continues: false,
            collection_in: None,
            without_collection: "$cmd",
            work: Work::Command,
            home: Home::Database,
        }
    }

    /// Returns a command with this row in the form that the check of rights requires.
    pub(crate) fn request<'a>(
        &self,
        body: DocRef<'a>,
        database: &'a str,
        message: &'a Message,
    ) -> CommandRequest<'a> {
        let collection_in = self.collection_argument();
        CommandRequest { name: self.name, collection_in, body, database, message }
    }

    /// Returns the argument that names the command's collection.
    pub(crate) fn collection_argument(&self) -> &'static str {
        self.collection_in.unwrap_or(self.name)
    }

    /// Creates the row of a command that changes nothing.
    pub(crate) const fn reads(rights: Rights) -> Self {
        Self::with_access(Access::Reads, rights)
    }

    /// Creates the row of a command that may change something.
    pub(crate) const fn writes(rights: Rights) -> Self {
        Self::with_access(Access::Writes, rights)
    }

    /// Creates the row of a command that changes something if `changes` returns true for its body.
    pub(crate) const fn by_arguments(changes: fn(DocRef<'_>) -> bool, rights: Rights) -> Self {
        Self::with_access(Access::ByArguments(changes), rights)
    }

    /// Returns whether the command may run before the client has logged in.
    pub const fn before_login(&self) -> bool {
        matches!(self.rights, Rights::Open)
    }

    /// Makes the command an alias of another command.
    pub(crate) const fn alias_of(self, command: &'static str) -> Self {
        Self { alias_of: Some(command), ..self }
    }

    /// Restricts the command to the database `admin`.
    pub(crate) const fn on_admin(self) -> Self {
        Self { admin_only: true, ..self }
    }

    /// Marks the command as a handshake: drivers send it as OP_QUERY, uncompressed, and may have it
    /// wait for a change of the server's state.
    pub(crate) const fn handshake(self) -> Self {
        let home = Home::FirstForLogins;
        Self { compress: false, awaits_state: true, home, ..self.in_old_form() }
    }

    /// Makes the server accept the command as OP_QUERY, by which old drivers start a connection and
    /// log in.
    pub(crate) const fn in_old_form(self) -> Self {
        Self { legacy: true, ..self }
    }

    /// Marks the command as carrying credentials: its reply is never compressed and its arguments
    /// are redacted.
    pub(crate) const fn credentials(self) -> Self {
        Self { compress: false, hides_arguments: true, ..self }
    }

    /// Marks the command as one on users and roles, which the first shard stores.
    pub(crate) const fn of_users(self) -> Self {
        Self { home: Home::First, ..self.without_documents() }
    }

    /// Adds the command to version 1 of the Stable API, with all its arguments except `except`.
    pub(crate) const fn in_api(self, except: &'static [&'static str]) -> Self {
        Self { api: ApiVersion1::Except(except), ..self }
    }

    /// Makes the command stop when its client disconnects.
    pub(crate) const fn ends_with_client(self) -> Self {
        Self { ends_with_client: true, ..self }
    }

    /// Leaves the cluster time out of replies. Azure's documentation reads them into types that have
    /// no timestamp.
    pub(crate) const fn without_cluster_time(self) -> Self {
        Self { cluster_time: false, ..self }
    }

    /// Makes a `writeConcern` an error.
    pub(crate) const fn no_write_concern(self) -> Self {
        Self { write_concern: false, ..self }
    }

    /// Sets the read concern levels that the command accepts.
    pub(crate) const fn at_levels(self, read_levels: ReadLevels) -> Self {
        Self { read_levels, ..self }
    }

    /// Makes the server check the arguments that all commands share as strictly as the command's
    /// own.
    pub(crate) const fn strict_shared(self) -> Self {
        Self { strict_shared: true, ..self }
    }

    /// Declares that the command stores its documents in the form in which they arrive.
    pub(crate) const fn stores_bytes(self) -> Self {
        Self { stores_bytes: true, ..self }
    }

    /// Declares that the command neither reads, counts nor changes documents.
    pub(crate) const fn without_documents(self) -> Self {
        Self { sees_documents: false, ..self }
    }

    /// Accepts the command as a retryable write.
    pub(crate) const fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    /// Sets whether the command may run in a transaction of several statements.
    pub(crate) const fn in_transactions(self, in_transactions: InTransactions) -> Self {
        Self { in_transactions, ..self }
    }

    /// Declares that the command continues something that this server has started.
    pub(crate) const fn continues(self) -> Self {
        Self { continues: true, ..self }
    }

    /// Sets the argument that names the command's collection.
    pub(crate) const fn collection_in(self, argument: &'static str) -> Self {
        Self { collection_in: Some(argument), ..self }
    }

    /// Sets the collection name that `currentOp` shows if the command names none.
    pub(crate) const fn without_collection(self, shown: &'static str) -> Self {
        Self { without_collection: shown, ..self }
    }

    /// Sets the server of a cluster that runs the command.
    pub(crate) const fn home(self, home: Home) -> Self {
        Self { home, ..self }
    }

    /// Sets the command's category for statistics.
    pub(crate) const fn counted_as(self, work: Work) -> Self {
        Self { work, ..self }
    }
}
