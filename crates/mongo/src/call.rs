//! One command that a client called: who, where, and with what. A `Call` is made once for each
//! message and handed to the command by reference.
//!
//! ```text
//! find         {find: "c", filter: {..}, $db: "db"}
//!               name  namespace          database
//! ```

use std::sync::Arc;

use document::{DocRef, ValueRef};
use engine::{Collection, Model, Namespace, Store, What};
use evaluation::{Context, Holding, Spill};

use crate::{
    arguments::{Args, OF_SHARD, collection_argument},
    client::Connection,
    command_table::Known,
    document_writer::DocumentWriter,
    door::{Door, Topology},
    errors::{CommandNotFound, Error, IllegalOperation, InvalidNamespace, Result},
    names,
    operation::Operation,
    rights::Asked,
    siblings::Siblings,
    utf8,
    wire::{Message, Shape},
};

/// What evaluation asks from time to time: whether the operation still may go on, and whether
/// others wait for the thread that it occupies.
struct Watched {
    operation: Arc<Operation>,
    give_way: fn(),
}

impl evaluation::Watch for Watched {
    fn check_end(&self) -> std::result::Result<(), evaluation::Error> {
        self.operation.check_running()
    }

    fn give_way(&self) {
        (self.give_way)();
    }

    fn looked(&self) -> Option<&evaluation::Looked> {
        Some(&self.operation.looked)
    }
}

/// A called command. It borrows from its message and its connection, so it lives as long as the
/// answer is made.
pub(crate) struct Call<'a, S: Store> {
    pub(crate) door: &'a Arc<Door<S>>,
    pub(crate) connection: &'a Connection,
    /// The message it came in. Large documents of it are shared, not copied.
    pub(crate) message: &'a Message,
    /// The command's name as the client spelled it.
    pub(crate) name: &'a str,
    /// Its row, if there is such a command.
    pub(crate) known: Option<Known>,
    /// The command's own document: that of the message, or the one inside the oldest form.
    pub(crate) body: DocRef<'a>,
    /// The database it is for, whose name is checked.
    pub(crate) database: &'a str,
    /// What it may still do: its time limit, and whether it was told to stop.
    pub(crate) operation: Arc<Operation>,
}

impl<'a, S: Store> Call<'a, S> {
    /// Refuses to work on a database beside the command's own that lives in another shard.
    pub(crate) fn check_home(&self, database: &str) -> Result<()> {
        let is_home = self.door.settings.is_home.as_ref();
        if is_home.is_none_or(|is_home| is_home.is(database)) {
            return Ok(());
        }
        let text = format!(
            "database {database} lives in another shard of the cluster than the first one that the \
             command names: one command works on the databases of one shard"
        );
        Err(Error::new(IllegalOperation, text))
    }

    /// The servers of the other shards, where the answer is to be that of all of them.
    pub(crate) fn siblings(&self) -> Option<&Siblings> {
        let is_of_shard = self.body.get(OF_SHARD).is_some();
        self.door.settings.siblings.as_ref().filter(|_| !is_of_shard)
    }

    /// Reads from a message which command it is and on which database.
    ///
    /// Fails where MongoDB's drivers expect an error before any command is looked at: 73 for a name
    /// that no database can have, 40571 without `$db`, and 352 for an OP_QUERY that is neither a
    /// handshake nor part of a login (drivers that get it stop and say that they are too old).
    pub(crate) fn new(
        door: &'a Arc<Door<S>>,
        connection: &'a Connection,
        message: &'a Message,
        operation: Arc<Operation>,
    ) -> Result<Self> {
        let mut body = message.body();
        let mut name = body.iter().next().map_or("", |(name, _)| name);
        // The oldest form wraps the command and its read preference.
        // Shells of long ago sent `{$query: {..}, $readPreference: ..}`; some drivers still do
        // before they know the server.
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
        let known = door.commands.find(name);
        if message.shape == Shape::Query && !known.is_some_and(|known| known.row.legacy) {
            let message = format!(
                "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade."
            );
            return Err(Error::new(crate::errors::UnsupportedOpQueryCommand, message));
        }
        names::check_database(database)?;
        Ok(Self { door, connection, message, name, known, body, database, operation })
    }

    /// The call of a command that stands inside this one, as `explain` has it. It shares this
    /// call's time limit.
    pub(crate) fn inner_call(&self, name: &'a str, body: DocRef<'a>) -> Self {
        let known = self.door.commands.find(name);
        Self { name, known, body, operation: Arc::clone(&self.operation), ..*self }
    }

    /// The command as its rights are looked at. Fails with 59 where there is no such command.
    pub(crate) fn asked(&self) -> Result<Asked<'a>> {
        let known = self.known.ok_or_else(|| {
            Error::new(CommandNotFound, format!("no such command: '{}'", self.name))
        })?;
        Ok(known.row.asked(self.body, self.database, self.message))
    }

    /// The command's own arguments.
    pub(crate) fn args(&self) -> Args<'a> {
        Args::new(self.name, self.body)
    }

    /// Whether it has a number, by which it is done once however often it is sent.
    pub(crate) fn has_number(&self) -> bool {
        self.door.settings.topology == Topology::Router
            && self.known.is_some_and(|known| known.row.numbered)
            && self.body.get("txnNumber").is_some()
    }

    /// The collection that the command names in its first field.
    pub(crate) fn namespace(&self) -> Result<Namespace> {
        names::parse_collection(self.database, collection_argument(self.body, self.name)?)
    }

    /// The collection that the command names in its first field, whose documents it reads or writes.
    /// A name with a dollar is error 73.
    pub(crate) fn namespace_of_documents(&self) -> Result<Namespace> {
        let namespace = self.namespace()?;
        names::check_no_dollar(&namespace)?;
        Ok(namespace)
    }

    /// The collection of this name, if there is one.
    pub(crate) fn find_collection(&self, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.door.engine.collection(Model::Documents, namespace)
    }

    /// The collection of this name; 26 NamespaceNotFound where there is none.
    pub(crate) fn expect_collection(&self, namespace: &Namespace) -> Result<Arc<Collection>> {
        self.find_collection(namespace).ok_or_else(|| Error::no_collection(namespace))
    }

    /// The collection of this name, made when it is missing, and whether it was made. Only then is
    /// its name checked as that of a new one: collections of an older name rule stay usable.
    pub(crate) async fn ensure_collection(
        &self,
        namespace: &Namespace,
    ) -> Result<(Arc<Collection>, bool)> {
        if let Some(collection) = self.find_collection(namespace) {
            return Ok((collection, false));
        }
        names::new_collection(&namespace.database, &namespace.collection)?;
        Ok(self.door.engine.ensure_collection(Model::Documents, namespace).await?)
    }

    /// Whether a write came too late for its collection: it was dropped after the write had looked
    /// up its name. The writer then looks again, so that the write takes its place after the drop
    /// and may make the collection anew.
    pub(crate) fn came_late<T>(written: &std::result::Result<T, engine::Error>) -> bool {
        written.as_ref().is_err_and(|error| {
            matches!(
                error.kind,
                engine::Kind::NotFound(What::Collection(_) | What::DroppedCollection(_))
            )
        })
    }

    /// What stays the same for the whole operation: its instant, the constants of `let`, the memory
    /// it may hold, and what it asks while it computes.
    ///
    /// Constants are evaluated here, one after the other, so that a later one can read an earlier
    /// one; what they hold is held until the operation ends. One that reads a field is error
    /// 4890500: there is no document yet.
    pub(crate) async fn evaluation_context(&self) -> Result<Arc<Context>> {
        let now = self.door.engine.now().await?;
        let mut context = Context {
            now_ms: now.ms,
            random: evaluation::Random::new(fastrand::u64(..)),
            budget: Arc::new(self.watched_budget()),
            holding: Holding::from_account(&self.door.settings.memory),
            spill: self.spill_target()?,
            ..Context::default()
        };
        if let Some(bound) = self.args().document("let")? {
            let mut held = 0;
            for (name, value) in bound.iter() {
                context.budget.spend(evaluation::limits::STEP)?;
                constant_name(name)?;
                let expr = mongo_query::expression::parse(value)?;
                if expr.reads_document() {
                    let message = "Command let Expression tried to access a field, but this is \
                                   not allowed because Command let Expressions run before the \
                                   query examines any documents.";
                    return Err(Error::new(4_890_500, message));
                }
                let env = pipeline::Env::new(DocRef::Raw(&[5, 0, 0, 0, 0]), &context);
                let value = expr.evaluate(&env)?.unwrap_or(document::Value::Undefined);
                // Many of them cannot hold more than one evaluation may. Each is taken from the
                // account once: a hundred thousand are not counted anew for each that follows.
                let bytes = evaluation::memory_of(value.as_ref());
                held += bytes;
                evaluation::check_holdable(held)?;
                context.holding.release_expression();
                context.holding.keep_for_operation(bytes)?;
                context.constants.insert(name, value);
            }
        }
        Ok(Arc::new(context))
    }

    /// Where stages put what they cannot hold: into files, unless the request forbids it with
    /// `allowDiskUse: false`. That files are allowed otherwise is MongoDB's default since 6.0.
    fn spill_target(&self) -> Result<Spill> {
        let allowed = self.args().bool("allowDiskUse")?.unwrap_or(true);
        Ok(match &self.door.settings.temporary {
            _ if !allowed => Spill::Refused,
            Some(area) => Spill::To(area.clone()),
            None => Spill::Nowhere,
        })
    }

    /// The count of work for this operation's evaluation: it gives way to others while it goes on,
    /// and ends with the operation.
    fn watched_budget(&self) -> evaluation::Budget {
        let operation = Arc::clone(&self.operation);
        evaluation::Budget::watched(Watched { operation, give_way: self.door.settings.give_way })
    }

    /// What checks and completes documents that are stored at this instant.
    pub(crate) fn document_writer(&self, now: clock::Instant) -> DocumentWriter {
        DocumentWriter { now, per_document: self.door.per_document_ttl() }
    }

    /// Documents given in a sequence of this name or in an array of the body. Drivers send large
    /// batches as a sequence beside the body; both at once would be two truths, so that is error 9.
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

/// Checks the name of a constant of `let`. Names that the server sets itself are error 4738901, all
/// others follow the rules for variables of expressions.
fn constant_name(name: &str) -> Result<()> {
    if matches!(name, "NOW" | "CLUSTER_TIME" | "JS_SCOPE" | "IS_MR" | "USER_ROLES") {
        let message = format!("Attempt to set internal constant: {name}");
        return Err(Error::new(4_738_901, message));
    }
    mongo_query::expression::variable_name(name).map_err(|error| {
        let message = format!("Invalid 'let' parameter :: caused by :: {}", error.message);
        Error::new(error.code, message)
    })
}
