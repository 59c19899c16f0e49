//! One command that a client called: who, where, and with what.

use std::sync::Arc;

use document::{DocRef, ValueRef};
use engine::{Collection, Model, Namespace, Store};
use query::{
    Context,
    expr::{Holding, Spill},
};

use crate::{
    arguments::{Args, collection_argument},
    client::Connection,
    command_row::Known,
    document_writer::DocumentWriter,
    door::Door,
    errors::{Error, InvalidNamespace, NamespaceNotFound, Result},
    names,
    operation::Operation,
    wire::{Message, Shape},
};

/// Looks after the evaluation of a command.
struct Watched {
    operation: Arc<Operation>,
    give_way: fn(),
}

impl query::expr::Watch for Watched {
    fn check(&self) -> std::result::Result<(), query::Error> {
        self.operation.check_running()
    }

    fn give_way(&self) {
        (self.give_way)();
    }
}

/// A called command.
pub(crate) struct Call<'a, S: Store> {
    pub(crate) door: &'a Arc<Door<S>>,
    pub(crate) connection: &'a Connection,
    pub(crate) message: &'a Message,
    pub(crate) name: &'a str,
    /// Its row, if there is such a command.
    pub(crate) known: Option<Known>,
    pub(crate) body: DocRef<'a>,
    pub(crate) database: &'a str,
    pub(crate) operation: Arc<Operation>,
}

impl<'a, S: Store> Call<'a, S> {
    pub(crate) fn new(
        door: &'a Arc<Door<S>>,
        connection: &'a Connection,
        message: &'a Message,
        operation: Arc<Operation>,
    ) -> Result<Self> {
        let mut body = message.body();
        let mut name = body.iter().next().map_or("", |(name, _)| name);
        // The oldest form wraps the command and its read preference.
        if message.shape == Shape::Query && matches!(name, "$query" | "query") {
            body = body.get(name).and_then(ValueRef::as_document).unwrap_or(body);
            name = body.iter().next().map_or("", |(name, _)| name);
        }
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

    /// The call of a command that stands inside this one, as `explain` has it.
    pub(crate) fn inner_call(&self, name: &'a str, body: DocRef<'a>) -> Self {
        let known = self.door.commands.find(name);
        Self { name, known, body, operation: Arc::clone(&self.operation), ..*self }
    }

    /// The command's own arguments.
    pub(crate) fn args(&self) -> Args<'a> {
        Args::new(self.name, self.body)
    }

    /// The collection the command names.
    pub(crate) fn namespace(&self) -> Result<Namespace> {
        names::parse_collection(self.database, collection_argument(self.body, self.name)?)
    }

    /// The collection of this name, if there is one.
    pub(crate) fn find_collection(&self, namespace: &Namespace) -> Option<Arc<Collection>> {
        self.door.engine.collection(Model::Documents, namespace)
    }

    /// The collection of this name, or MongoDB's error.
    pub(crate) fn expect_collection(&self, namespace: &Namespace) -> Result<Arc<Collection>> {
        self.find_collection(namespace)
            .ok_or_else(|| Error::new(NamespaceNotFound, format!("ns does not exist: {namespace}")))
    }

    /// The collection of this name, made when it is missing.
    pub(crate) async fn ensure_collection(
        &self,
        namespace: &Namespace,
    ) -> Result<(Arc<Collection>, bool)> {
        if let Some(collection) = self.find_collection(namespace) {
            return Ok((collection, false));
        }
        names::new_collection(&namespace.database, &namespace.collection)?;
        Ok(self.door.engine.ensure(Model::Documents, namespace).await?)
    }

    /// Whether a write came too late for its collection: somebody dropped it behind the write's look
    /// at its name. The writer looks again, so that the write has its place behind the drop.
    pub(crate) fn came_late<T>(written: &std::result::Result<T, engine::Error>) -> bool {
        let gone = engine::Kind::NotFound(engine::What::Collection);
        written.as_ref().is_err_and(|error| error.kind == gone)
    }

    /// What stays the same for the whole operation: its instant and the constants of `let`.
    pub(crate) async fn evaluation_context(&self) -> Result<Arc<Context>> {
        let now = self.door.engine.now().await;
        let mut context = Context {
            now_ms: now.ms,
            random: query::expr::Random::new(fastrand::u64(..)),
            effort: Arc::new(self.watched_effort()),
            holding: Holding::of(&self.door.settings.memory),
            spill: self.spill_target()?,
            ..Context::default()
        };
        if let Some(bound) = self.args().document("let")? {
            let mut held = 0;
            for (name, value) in bound.iter() {
                constant_name(name)?;
                let expr = mongo_query::expression::parse(value)?;
                if expr.reads_document() {
                    let message = "Command let Expression tried to access a field, but this is \
                                   not allowed because Command let Expressions run before the \
                                   query examines any documents.";
                    return Err(Error::new(4_890_500, message));
                }
                let env = query::Env::new(DocRef::Raw(&[5, 0, 0, 0, 0]), &context);
                let env = env.holding(held)?;
                let value = expr.eval(&env)?.unwrap_or(document::Value::Undefined);
                held += query::expr::memory(value.as_ref());
                context.constants.insert(name, value);
            }
            context.holding.settle();
            context.holding.keep(held)?;
        }
        Ok(Arc::new(context))
    }

    /// Where its stages put what they cannot hold: into files, unless the request forbids it, which
    /// is MongoDB's default since 6.0.
    fn spill_target(&self) -> Result<Spill> {
        let allowed = self.args().bool("allowDiskUse")?.unwrap_or(true);
        Ok(match &self.door.settings.temporary {
            _ if !allowed => Spill::Refused,
            Some(area) => Spill::To(area.clone()),
            None => Spill::Nowhere,
        })
    }

    /// Evaluation gives way to others while it goes on, and ends with the operation.
    fn watched_effort(&self) -> query::expr::Effort {
        let operation = Arc::clone(&self.operation);
        query::expr::Effort::watched(Watched { operation, give_way: self.door.settings.give_way })
    }

    /// Writes documents at this instant.
    pub(crate) fn document_writer(&self, now: clock::Instant) -> DocumentWriter {
        DocumentWriter { now, per_document: self.door.per_document_ttl() }
    }

    /// Documents given in a sequence of this name or in an array of the body.
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

/// Checks the name of a constant of `let`.
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
