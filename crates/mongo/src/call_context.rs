//! The context in which a command's expressions are evaluated: its instant, the constants of `let`,
//! its memory and its work budget.

use std::sync::{Arc, OnceLock};

use collation::Collation;
use document::DocRef;
use evaluation::{Context, OperationMemory, Spill};

use crate::{
    call::Call,
    document_writer::DocumentWriter,
    errors::{Error, Result},
    operation::Operation,
};

/// Conditions that evaluation checks periodically: whether the operation may continue, and whether
/// other tasks wait for its thread.
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

    fn stats(&self) -> Option<&evaluation::ExecutionStats> {
        Some(&self.operation.stats)
    }
}

impl<'a> Call<'a> {
    /// Returns the context of the operation's evaluation: its instant, the constants of `let`, its
    /// memory reservation and its work budget.
    ///
    /// Constants are evaluated here in order, so that a later one can refer to an earlier one;
    /// their memory is held until the operation ends. A constant that reads a field fails with
    /// 4890500, since there is no document yet.
    pub(crate) async fn evaluation_context(&self) -> Result<Arc<Context>> {
        self.context_with(None).await
    }

    /// Returns the context of the evaluation as [`evaluation_context`](Self::evaluation_context)
    /// does; texts compare by `collation`.
    pub(crate) async fn context_with(
        &self,
        collation: Option<Arc<Collation>>,
    ) -> Result<Arc<Context>> {
        let now = self.api.engine.now().await?;
        let mut context = Context {
            now_ms: now.ms,
            random: evaluation::Random::new(fastrand::u64(..)),
            budget: Arc::new(self.watched_budget()),
            operation_memory: OperationMemory::from_account(&self.api.settings.memory),
            spill: self.spill_target()?,
            collation,
            ..Context::default()
        };
        if let Some(bound) = self.args().document("let")? {
            let mut held = 0;
            for (name, value) in bound.iter() {
                context.budget.spend(evaluation::STEP)?;
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
                // The memory of all constants is limited like that of one evaluation. Each constant
                // is charged to the account once, so that many constants do not cost quadratic
                // time.
                let bytes = evaluation::memory_of(value.as_ref());
                held += bytes;
                evaluation::check_holdable(held)?;
                context.operation_memory.release_expression();
                context.operation_memory.keep_for_operation(bytes)?;
                context.constants.insert(name, value);
            }
        }
        Ok(Arc::new(context))
    }

    /// Returns where stages spill to: temporary files, unless the request has `allowDiskUse:
    /// false`. Allowing files by default is MongoDB's behavior since 6.0.
    fn spill_target(&self) -> Result<Spill> {
        let allowed = self.args().bool("allowDiskUse")?.unwrap_or(true);
        Ok(match &self.api.settings.temporary {
            _ if !allowed => Spill::Refused,
            Some(area) => Spill::To(area.clone()),
            None => Spill::Nowhere,
        })
    }

    /// Returns the work budget of this operation's evaluation, which yields to other tasks and
    /// stops with the operation.
    fn watched_budget(&self) -> evaluation::Budget {
        let operation = Arc::clone(&self.operation);
        evaluation::Budget::watched(Watched { operation, give_way: self.api.settings.give_way })
    }

    /// Returns the writer that checks and completes documents stored at this instant.
    pub(crate) fn document_writer(&self, now: clock::Instant) -> DocumentWriter {
        // A wrong type was refused when the command checked its arguments.
        let bypasses = self.args().lax_bool("bypassDocumentValidation");
        DocumentWriter {
            now,
            per_document: self.api.per_document_ttl(),
            bypasses_validation: bypasses.is_ok_and(|bypasses| bypasses == Some(true)),
        }
    }

    /// Returns the context in which inserted documents are checked against a validator.
    pub(crate) fn insert_context(&self, now: clock::Instant) -> InsertContext<'_, 'a> {
        InsertContext { call: self, now, context: OnceLock::new() }
    }
}

/// The context in which inserted documents are checked against a validator. Most collections have
/// none, so the context is created when it is first needed.
pub(crate) struct InsertContext<'c, 'a> {
    call: &'c Call<'a>,
    now: clock::Instant,
    context: OnceLock<Context>,
}

impl engine::RuleContext for InsertContext<'_, '_> {
    fn context(&self) -> &Context {
        self.context.get_or_init(|| Context {
            now_ms: self.now.ms,
            random: evaluation::Random::new(fastrand::u64(..)),
            budget: Arc::new(self.call.watched_budget()),
            operation_memory: OperationMemory::from_account(&self.call.api.settings.memory),
            ..Context::default()
        })
    }
}

/// Checks the name of a constant of `let`. Names that the server sets itself fail with 4738901; all
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
