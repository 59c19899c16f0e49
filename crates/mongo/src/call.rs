//! One command that a client called: the sender, the database and the arguments. A `Call` is made
//! once per message and passed to the command by reference.
//!
//! ```text
//! find         {find: "c", filter: {..}, $db: "db"}
//!               name  namespace          database
//! ```

mod new_names;

use std::sync::Arc;

use collation::Collation;
use document::{DocRef, ValueRef};
use engine::{Collection, ErrorSubject, Model, Namespace};

use crate::{
    api::MongoApi,
    arguments::{Args, OF_SHARD, collection_argument},
    client::Connection,
    command_table::Known,
    errors::{CommandNotFound, Error, IllegalOperation, InvalidNamespace, Result},
    names,
    operation::Operation,
    other_shards::OtherShards,
    rights::CommandRequest,
    snapshot_table::KeptSnapshot,
    stored_view::{is_view, not_on_view},
    transaction_table::OpenTransaction,
    utf8,
    wire::{Message, Shape},
};

/// A command that is being run; it borrows from its message and its connection.
pub(crate) struct Call<'a> {
    pub(crate) api: &'a Arc<MongoApi>,
    pub(crate) connection: &'a Connection,
    /// The message that contains the command; its large documents are shared, not copied.
    pub(crate) message: &'a Message,
    /// The command's name as the client spelled it.
    pub(crate) name: &'a str,
    /// The command's row in the command table, if the command exists.
    pub(crate) known: Option<Known>,
    /// The command's own document: the message's body, or the one wrapped in `$query`.
    pub(crate) body: DocRef<'a>,
    /// The command's database; the name is valid.
    pub(crate) database: &'a str,
    /// Time limit and stop requests of the command.
    pub(crate) operation: Arc<Operation>,
    /// The transaction in which the command runs; `None` for a command of its own.
    pub(crate) transaction: Option<&'a OpenTransaction>,
    /// The snapshot at which the command reads outside of transactions.
    pub(crate) snapshot: Option<&'a KeptSnapshot>,
}

impl<'a> Call<'a> {
    /// Checks a second database that the command names: fails with 20 if it belongs to another
    /// shard.
    pub(crate) fn check_home(&self, database: &str) -> Result<()> {
        let is_home = self.api.settings.is_home.as_ref();
        if is_home.is_none_or(|is_home| is_home.is(database)) {
            return Ok(());
        }
        let text = format!(
            "database {database} is in another shard of the cluster than the command's first \
             database: a command works on the databases of one shard"
        );
        Err(Error::new(IllegalOperation, text))
    }

    /// Returns the access to the owners of the other shards if the reply must cover all shards;
    /// otherwise `None`.
    pub(crate) fn other_shards(&self) -> Option<&OtherShards> {
        let is_of_shard = self.body.get(OF_SHARD).is_some();
        self.api.settings.other_shards.as_ref().filter(|_| !is_of_shard)
    }

    /// Reads the command's name and database from a message.
    ///
    /// Fails as MongoDB's drivers expect before any command is dispatched: 73 for an invalid
    /// database name, 40571 without `$db`, and 352 for an OP_QUERY of a command that needs a login
    /// (drivers then report that they are too old).
    pub(crate) fn new(
        api: &'a Arc<MongoApi>,
        connection: &'a Connection,
        message: &'a Message,
        operation: Arc<Operation>,
    ) -> Result<Self> {
        let mut body = message.body();
        let mut name = body.iter().next().map_or("", |(name, _)| name);
        // Legacy shells sent `{$query: {..}, $readPreference: ..}`; some drivers still do before
        // the handshake.
        if message.shape == Shape::Query && matches!(name, "$query" | "query") {
            body = body.get(name).and_then(ValueRef::as_document).unwrap_or(body);
            name = body.iter().next().map_or("", |(name, _)| name);
        }
        utf8::check_command(message, name)?;
        let database = match (&message.database, body.get("$db")) {
            (Some(database), _) => database.as_str(),
            (None, Some(ValueRef::String(database))) => database,
            (None, Some(_)) => return Err(Error::new(InvalidNamespace, "$db must be text")),
            (None, None) => {
                return Err(Error::new(40571, "OP_MSG requests require a $db argument"));
            }
        };
        let known = api.commands.find(name);
        if message.shape == Shape::Query && !known.is_some_and(|known| known.row.legacy) {
            let message = format!(
                "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade."
            );
            return Err(Error::new(crate::errors::UnsupportedOpQueryCommand, message));
        }
        names::check_database(database)?;
        let (transaction, snapshot) = (None, None);
        Ok(Self {
            api,
            connection,
            message,
            name,
            known,
            body,
            database,
            operation,
            transaction,
            snapshot,
        })
    }

    /// Creates the call of a command nested in this one, as in `explain`. It shares this call's
    /// time limit.
    pub(crate) fn inner_call(&self, name: &'a str, body: DocRef<'a>) -> Self {
        let known = self.api.commands.find(name);
        Self { name, known, body, operation: Arc::clone(&self.operation), ..*self }
    }

    /// Returns the command as the authorization check sees it. Fails with 59 if it does not exist.
    pub(crate) fn request(&self) -> Result<CommandRequest<'a>> {
        let known = self.known.ok_or_else(|| {
            Error::new(CommandNotFound, format!("no such command: '{}'", self.name))
        })?;
        Ok(known.row.request(self.body, self.database, self.message))
    }

    /// Returns the command's own arguments.
    pub(crate) fn args(&self) -> Args<'a> {
        Args::new(self.name, self.body)
    }

    /// Returns whether the command is a retryable write: it has a `txnNumber` and is executed once,
    /// however often it is sent.
    pub(crate) fn is_retryable_write(&self) -> bool {
        self.api.settings.topology.accepts_numbers()
            && self.known.is_some_and(|known| known.row.retryable)
            && self.body.get("txnNumber").is_some()
            && self.body.get("autocommit").is_none()
    }

    /// Returns the collection named in the command's first field.
    pub(crate) fn namespace(&self) -> Result<Namespace> {
        names::parse_collection(self.database, collection_argument(self.body, self.name)?)
    }

    /// Returns the collection named in the command's first field, for commands on its documents.
    /// Fails with 73 if the name has a dollar sign.
    pub(crate) fn namespace_of_documents(&self) -> Result<Namespace> {
        let namespace = self.namespace()?;
        names::check_no_dollar(&namespace)?;
        Ok(namespace)
    }

    /// Returns the collection named in the command's first field, for commands that insert or update
    /// documents. Fails with 73 if the name has a dollar sign, or if clients cannot write to it.
    pub(crate) fn namespace_of_writes(&self) -> Result<Namespace> {
        let namespace = self.namespace_of_documents()?;
        names::check_writable(&namespace)?;
        Ok(namespace)
    }

    /// Returns the collection or view of this name, if it exists.
    pub(crate) fn find_collection(&self, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.api.engine.collection(Model::Documents, namespace)
    }

    /// Returns the collection or view of this name in a database, if it exists.
    pub(crate) fn find_named(&self, database: &str, collection: &str) -> Option<Arc<Collection>> {
        self.api.engine.collection_named(Model::Documents, database, collection)
    }

    /// Returns the collection of this name, if it exists; fails with 166 if it is a view.
    pub(crate) fn find_no_view(&self, namespace: &Namespace) -> Result<Option<Arc<Collection>>> {
        match self.find_collection(namespace) {
            Some(found) if is_view(&found) => Err(not_on_view(namespace)),
            found => Ok(found),
        }
    }

    /// Returns the collection of this name; fails with 26 NamespaceNotFound if it does not exist,
    /// and with 166 if it is a view.
    pub(crate) fn expect_collection(&self, namespace: &Namespace) -> Result<Arc<Collection>> {
        self.find_no_view(namespace)?.ok_or_else(|| Error::no_collection(namespace))
    }

    /// Returns the collection of this name, creating it if it is missing, and whether it was
    /// created; fails with 166 if it is a view. The name rules for new collections are checked only
    /// for a new one: collections made under older rules stay usable.
    pub(crate) async fn ensure_collection(
        &self,
        namespace: &Namespace,
    ) -> Result<(Arc<Collection>, bool)> {
        if let Some(collection) = self.find_no_view(namespace)? {
            return Ok((collection, false));
        }
        self.check_new(namespace)?;
        let ensured = self.api.engine.ensure_collection(Model::Documents, namespace).await?;
        self.record_created(&ensured.0, ensured.1);
        // Another client may have created a view of this name since the first look.
        if is_view(&ensured.0) { Err(not_on_view(namespace)) } else { Ok(ensured) }
    }

    /// Returns whether a write failed because its collection was dropped after the name was
    /// resolved. The writer then resolves the name again: the write is ordered after the drop, and
    /// may create the collection anew.
    pub(crate) fn collection_was_dropped<T>(
        written: &std::result::Result<T, engine::Error>,
    ) -> bool {
        written.as_ref().is_err_and(|error| {
            matches!(
                error.kind,
                engine::Kind::NotFound(
                    ErrorSubject::Collection(_) | ErrorSubject::DroppedCollection(_)
                )
            )
        })
    }

    /// Returns the default collation of a collection; `None` if it has none or does not exist. An
    /// operation keeps the default that it found at its beginning, even if the collection is dropped
    /// and created anew before its end.
    pub(crate) fn default_collation(&self, namespace: &Namespace) -> Option<Arc<Collation>> {
        default_collation(self.find_collection(namespace).as_deref())
    }

    /// Returns the documents of this name, from a document sequence or from an array in the body.
    /// Drivers send large batches as a sequence. Fails with 9 if both are given.
    pub(crate) fn listed_documents(&self, name: &str) -> Result<Vec<DocRef<'a>>> {
        match self.message.sequence(name) {
            Some(_) if self.body.get(name).is_some() => Err(Error::new(
                crate::errors::FailedToParse,
                format!("'{name}' is given in the body and as a document sequence"),
            )),
            Some(documents) => Ok(documents.into_iter().map(DocRef::Raw).collect()),
            None => self.args().documents(name),
        }
    }
}

/// Returns the default collation of the collection that a command has found; `None` if it has none
/// or does not exist.
pub(crate) fn default_collation(found: Option<&Collection>) -> Option<Arc<Collation>> {
    found?.state().collation.clone()
}
