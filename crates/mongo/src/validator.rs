//! Validators of collections: the rule that the options of a collection contain for its documents.
//!
//! ```text
//! {validator: {a: {$gt: 0}}, validationLevel: "moderate", validationAction: "warn"}
//! ```
//!
//! The engine checks each new version of a document in the view in which the write is decided
//! ([`engine::DocumentRule`]). A validator is parsed when it checks its first document, so that
//! validators of collections that are not written take no time and no memory.

use std::sync::{Arc, OnceLock};

use collation::Collation;
use document::{DocRef, Document, Value, ValueRef, doc, shell};
use engine::{Kind, Namespace, Record};
use evaluation::{Context, memory_of};
use pipeline::filter::{Clause, DetailLimits};

use crate::{
    errors::{BSONObjectTooLarge, Error, InvalidOptions, Result, code_name},
    limits::{DETAIL_DEPTH, MAX_DETAIL_BYTES, MAX_DETAILS_BYTES, MAX_VALIDATOR_BYTES, SHOWN_BYTES},
    names,
    protocol_error_log::ProtocolErrorLog,
};

/// Name of the option that contains the validator.
pub(crate) const VALIDATOR: &str = "validator";
/// Name of the option that selects the documents to which the validator applies.
pub(crate) const LEVEL: &str = "validationLevel";
/// Name of the option that selects what happens to documents that fail.
pub(crate) const ACTION: &str = "validationAction";

/// Treatment of a document that fails validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// The document is refused, and nothing is logged.
    Refuse,
    /// The document is written, and the failure is logged.
    Log,
    /// The document is refused, and the failure is logged.
    RefuseAndLog,
}

/// The validator of a collection.
#[derive(Debug)]
pub(crate) struct Validator {
    source: Document,
    namespace: Namespace,
    /// Whether updates of documents that already fail are permitted.
    is_moderate: bool,
    action: Action,
    /// The collection's collation, by which the validator compares texts.
    collation: Option<Arc<Collation>>,
    /// The parsed validator, once it has been used.
    parsed: OnceLock<Clause>,
    /// Limits the rate of log lines about failures.
    log: ProtocolErrorLog,
}

impl Validator {
    /// Returns the validator of a collection; `None` if it has none or the validator is switched
    /// off.
    pub(crate) fn of_record(record: &Record) -> Option<Self> {
        let Some(Value::Document(source)) = record.options.get(VALIDATOR) else { return None };
        let option = |name| match record.options.get(name) {
            Some(Value::String(value)) => value.as_str(),
            _ => "",
        };
        if source.is_empty() || option(LEVEL) == "off" {
            return None;
        }
        Some(Self {
            source: source.clone(),
            namespace: record.namespace.clone(),
            is_moderate: option(LEVEL) == "moderate",
            action: match option(ACTION) {
                "warn" => Action::Log,
                "errorAndLog" => Action::RefuseAndLog,
                _ => Action::Refuse,
            },
            collation: engine::default_collation(&record.options),
            parsed: OnceLock::new(),
            log: ProtocolErrorLog::default(),
        })
    }

    /// Returns the parsed validator. While it cannot be parsed, documents are refused, because they
    /// cannot be checked. A failure is not kept, since it may be a temporary lack of memory for
    /// regular expressions.
    fn clause(&self) -> std::result::Result<&Clause, evaluation::Error> {
        if let Some(clause) = self.parsed.get() {
            return Ok(clause);
        }
        let source = DocRef::Tree(&self.source);
        let parsed = mongo_query::filter::parse_validator(source).map_err(|error| {
            let message =
                format!("the validator of {} cannot be parsed: {}", self.namespace, error.message);
            evaluation::Error::new(evaluation::Kind::Invalid, error.code, message)
        })?;
        Ok(self.parsed.get_or_init(|| parsed))
    }

    /// Logs that a document fails, without values of the document.
    fn log_failure(
        &self,
        clause: &Clause,
        document: DocRef<'_>,
        context: &Context,
    ) -> std::result::Result<(), evaluation::Error> {
        if let Some(left_out) = self.log.take_line(clock::monotonic_time()) {
            let limits = DetailLimits { bytes: SHOWN_BYTES, shows_values: false, ..LIMITS };
            let details = clause.explain(document, context, limits)?;
            let details = shell(Value::Document(details).as_ref()).to_string();
            let namespace = self.namespace.to_string();
            let refused = self.action != Action::Log;
            tracing::warn!(namespace, refused, details, left_out, "a document fails validation");
        }
        Ok(())
    }
}

/// The limits of `errInfo` of one document.
const LIMITS: DetailLimits = DetailLimits {
    bytes: MAX_DETAIL_BYTES,
    depth: DETAIL_DEPTH,
    shows_values: true,
    code_name: |code| code_name(code).into_owned(),
};

impl engine::DocumentRule for Validator {
    fn check(
        &self,
        document: DocRef<'_>,
        before: Option<DocRef<'_>>,
        context: &Context,
    ) -> std::result::Result<(), engine::Error> {
        let clause = self.clause()?;
        // A statement may have another collation than the collection.
        let own = (context.collation != self.collation)
            .then(|| Context { collation: self.collation.clone(), ..Context::clone(context) });
        let context = own.as_ref().unwrap_or(context);
        if clause.matches(document, context)? {
            return Ok(());
        }
        if self.is_moderate
            && let Some(before) = before
            && !clause.matches(before, context)?
        {
            return Ok(());
        }
        if self.action != Action::Refuse {
            self.log_failure(clause, document, context)?;
        }
        if self.action == Action::Log {
            return Ok(());
        }
        let details = describe_failure(clause, document, context)?;
        let message = "Document failed validation";
        Err(engine::Error::new(Kind::FailedRule { details }, message))
    }
}

/// Returns `errInfo`: the id of the document and why it fails. The reason is left out if there is
/// not enough memory for it, or if the command already has long reasons of other documents.
fn describe_failure(
    clause: &Clause,
    document: DocRef<'_>,
    context: &Context,
) -> std::result::Result<Document, evaluation::Error> {
    let id = document.get("_id").map_or(Value::Null, |id| id.to_value());
    let mut info = doc! { "failingDocumentId": id };
    let held = &context.operation_memory;
    let reason = if MAX_DETAILS_BYTES < held.used_bytes() {
        None
    } else {
        let reason = clause.explain(document, context, LIMITS)?;
        let memory = memory_of(ValueRef::Document(DocRef::Tree(&reason)));
        held.keep_for_operation(memory).is_ok().then_some(reason)
    };
    let reason = reason.unwrap_or_else(|| doc! { "note": "detailed error was too large" });
    reason.into_iter().for_each(|(name, value)| info.push(name, value));
    Ok(info)
}

/// Checks the validator that a client gives to a collection.
///
/// Fails with 72 if the collection is a system collection or in an internal database, 10334 if the
/// validator is too large, and with the errors of filters.
pub(crate) fn check_validator(namespace: &Namespace, validator: DocRef<'_>) -> Result<()> {
    if validator.is_empty() {
        return Ok(());
    }
    if namespace.collection.starts_with("system.") {
        let message = format!("Document validators not allowed on system collection {namespace}");
        return Err(Error::new(InvalidOptions, message));
    }
    if names::SYSTEM_DATABASES.contains(&namespace.database.as_str()) {
        let message = format!(
            "Document validators are not allowed on collection {namespace} in the {} internal \
             database",
            namespace.database
        );
        return Err(Error::new(InvalidOptions, message));
    }
    let bytes = ValueRef::Document(validator).encoded_len();
    if MAX_VALIDATOR_BYTES < bytes {
        let message =
            format!("the validator has {bytes} bytes; the maximum is {MAX_VALIDATOR_BYTES} bytes");
        return Err(Error::new(BSONObjectTooLarge, message));
    }
    mongo_query::filter::parse_validator(validator).map(drop).map_err(|error| {
        let message =
            format!("Parsing of collection validator failed :: caused by :: {}", error.message);
        Error::new(error.code, message)
    })
}
