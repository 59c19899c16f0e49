//! Errors as clients of this API expect them: status, sub-status, name, text. All failures of the
//! engine and of signature checks are mapped here.
//!
//! Clients decide by status and sub-status; SDKs retry 408, 410, 429, 449 and 503 on their own, in
//! different ways. Each failure therefore has a `Fault`, chosen by the client's reaction; failures
//! to which clients react alike may share a fault. Texts are for people, and equal Azure Cosmos
//! DB's if it has one for the failure.

use std::borrow::Cow;

use document::json;
use engine::{ErrorSubject, Kind};

use crate::interrupt::STOPPING;

/// Kinds of failures, classified by the client's reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request is invalid. The same request would fail again.
    BadRequest,
    /// The partition key in the header differs from that of the item. SDKs reload the container's
    /// definition and retry once.
    PartitionKey,
    /// The container was deleted after the client resolved its name, and another container now has
    /// the name.
    Recreated,
    /// The signature is missing or wrong.
    Unauthorized,
    /// The sender is authenticated but lacks the right for the operation, or the date of the
    /// request differs too much from the server's clock.
    Forbidden,
    /// Only an account key permits this operation, and the sender used a token of an identity
    /// service.
    NotForTokens,
    /// No role of the sender permits reading the metadata of databases and containers.
    NoMetadataRole,
    /// No role of the sender permits the operation.
    NoDataRole,
    /// The resource does not exist.
    NotFound,
    /// The session token is ahead of the server. SDKs retry, later or on another server.
    Session,
    /// The parent resource does not exist.
    OwnerNotFound,
    /// The resource exists, but does not support the method.
    MethodNotAllowed,
    /// The request took too long to arrive or to compute.
    Timeout,
    /// A resource with that name or unique key already exists.
    Conflict,
    /// The partition key range does not exist. SDKs reload the list of ranges.
    Gone,
    /// Another node of the cluster owns the data. Clients in direct mode read the addresses again.
    Elsewhere,
    /// The version of the item is not the requested one, or the item does not match the condition
    /// of a patch.
    PreconditionFailed,
    /// The request, or the resulting item, is too large.
    TooLarge,
    /// The response would be too large; the client should request less.
    AnswerTooLarge,
    UnsupportedMediaType,
    /// An operation of a batch was not executed because another operation failed.
    FailedDependency,
    /// The request addresses a host name that does not belong to this server.
    Misdirected,
    TooManyRequests,
    /// Too many wrong signatures came from this client address.
    TooManyGuesses,
    /// The operation conflicted with concurrent writers too often; the client retries.
    RetryWith,
    /// Damaged data or a bug of the server.
    Internal,
    /// A feature of Azure Cosmos DB that this server does not implement.
    NotImplemented,
    /// Temporarily unavailable: the server is stopping, its disk has failed, or memory is
    /// exhausted.
    Unavailable,
    Full,
}

impl Fault {
    /// All faults, for the table in the documentation.
    pub(crate) const ALL: [Self; 29] = [
        Self::BadRequest,
        Self::PartitionKey,
        Self::Recreated,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotForTokens,
        Self::NoMetadataRole,
        Self::NoDataRole,
        Self::NotFound,
        Self::Session,
        Self::OwnerNotFound,
        Self::MethodNotAllowed,
        Self::Timeout,
        Self::Conflict,
        Self::Gone,
        Self::Elsewhere,
        Self::PreconditionFailed,
        Self::TooLarge,
        Self::AnswerTooLarge,
        Self::UnsupportedMediaType,
        Self::FailedDependency,
        Self::Misdirected,
        Self::TooManyRequests,
        Self::TooManyGuesses,
        Self::RetryWith,
        Self::Internal,
        Self::NotImplemented,
        Self::Unavailable,
        Self::Full,
    ];

    /// Returns status, sub-status and name of a fault. All faults are in one table, so that they
    /// can be compared. The pairs of status and sub-status equal those of Azure Cosmos DB for
    /// failures that also occur there.
    pub(crate) const fn table_row(self) -> (u16, u32, &'static str) {
        match self {
            Self::BadRequest => (400, 0, "BadRequest"),
            Self::PartitionKey => (400, 1001, "BadRequest"),
            Self::Recreated => (400, 1024, "BadRequest"),
            Self::Unauthorized => (401, 0, "Unauthorized"),
            Self::Forbidden => (403, 0, "Forbidden"),
            Self::NotForTokens => (403, 5300, "Forbidden"),
            Self::NoMetadataRole => (403, 5301, "Forbidden"),
            Self::NoDataRole => (403, 5302, "Forbidden"),
            Self::NotFound => (404, 0, "NotFound"),
            Self::Session => (404, 1002, "NotFound"),
            Self::OwnerNotFound => (404, 1003, "NotFound"),
            Self::MethodNotAllowed => (405, 0, "MethodNotAllowed"),
            Self::Timeout => (408, 0, "RequestTimeout"),
            Self::Conflict => (409, 0, "Conflict"),
            Self::Gone => (410, 1002, "Gone"),
            Self::Elsewhere => (410, 0, "Gone"),
            Self::PreconditionFailed => (412, 0, "PreconditionFailed"),
            Self::TooLarge => (413, 0, "RequestEntityTooLarge"),
            Self::AnswerTooLarge => (413, 3402, "RequestEntityTooLarge"),
            Self::UnsupportedMediaType => (415, 0, "UnsupportedMediaType"),
            Self::FailedDependency => (424, 0, "FailedDependency"),
            Self::Misdirected => (421, 0, "MisdirectedRequest"),
            Self::TooManyRequests => (429, 3200, "TooManyRequests"),
            Self::TooManyGuesses => (429, 0, "TooManyRequests"),
            Self::RetryWith => (449, 0, "RetryWith"),
            Self::Internal => (500, 0, "InternalServerError"),
            Self::NotImplemented => (501, 0, "NotImplemented"),
            Self::Unavailable => (503, 0, "ServiceUnavailable"),
            Self::Full => (507, 0, "InsufficientStorage"),
        }
    }

    /// Returns the HTTP status of the response.
    pub(crate) const fn status(self) -> u16 {
        self.table_row().0
    }

    /// Returns the value of the header `x-ms-substatus`.
    pub(crate) const fn sub_status(self) -> u32 {
        self.table_row().1
    }
}

/// A refused or failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) fault: Fault,
    pub(crate) text: Cow<'static, str>,
    /// A JSON object with a query's errors, which replaces `text` in the response body.
    pub(crate) errors: Option<Box<str>>,
    /// Milliseconds after which a retry may succeed; SDKs wait this long.
    pub(crate) retry_ms: Option<u64>,
    /// Log sequence number reported by the response; 0 if the request was not about a container.
    pub(crate) seq: u64,
}

/// Retry delay in milliseconds when memory is exhausted. Most requests that hold memory end within
/// this time, and a person hardly notices it.
const BUSY_RETRY_MS: u64 = 500;

/// Result type of this crate.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Text for a missing item, or any other missing resource in a container.
const NO_ENTITY: &str = "Entity with the specified id does not exist in the system. Resource Not \
                         Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found";
/// Text for a missing database or container of the requested resource. Clients match it.
const NO_OWNER: &str = "Owner resource does not exist. Resource Not Found. Learn more: \
                        https://aka.ms/cosmosdb-tsg-not-found";
/// Text for a condition on an item's version that does not hold.
const PRECONDITION: &str = "One of the specified pre-condition is not met. Learn more: \
                            https://aka.ms/CosmosDB/sql/errors/precondition-failed";
/// Text for a missing database or container.
const NO_RESOURCE: &str = "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found";

impl Failure {
    /// Creates a failure. Transient faults get a short retry delay, so that SDKs do not wait longer
    /// than necessary.
    pub(crate) fn new(fault: Fault, text: impl Into<Cow<'static, str>>) -> Self {
        let retry_ms = matches!(fault, Fault::RetryWith | Fault::Unavailable).then_some(10);
        Self { fault, text: text.into(), errors: None, retry_ms, seq: 0 }
    }

    /// Creates the failure of an invalid request, with this text.
    pub(crate) fn bad_request(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Fault::BadRequest, text)
    }

    /// Creates the failure for a query that does not compile. `errors` is a JSON object, as in
    /// Azure Cosmos DB; SDKs show it to applications unchanged.
    pub(crate) fn invalid_query(errors: String) -> Self {
        Self { errors: Some(errors.into()), ..Self::new(Fault::BadRequest, "") }
    }

    /// Creates the failure for a feature of Azure Cosmos DB that this server does not have.
    pub(crate) fn unsupported(what: &str) -> Self {
        Self::new(Fault::NotImplemented, format!("{what} is not supported by this server."))
    }

    /// Creates the failure for a missing item, or any other missing resource in a container.
    pub(crate) fn no_entity() -> Self {
        Self::new(Fault::NotFound, NO_ENTITY)
    }

    /// Creates the failure for a missing database or container.
    pub(crate) fn no_resource() -> Self {
        Self::new(Fault::NotFound, NO_RESOURCE)
    }

    /// Creates the failure for a missing parent: the database, container or user of the requested
    /// resource.
    pub(crate) fn no_owner() -> Self {
        Self::new(Fault::OwnerNotFound, NO_OWNER)
    }

    /// Creates the failure for a name that is already used.
    pub(crate) fn already_exists() -> Self {
        Self::new(Fault::Conflict, "Entity with the specified id already exists in the system.")
    }

    /// Creates the failure for a value of a unique key that another item has.
    pub(crate) fn unique_violation() -> Self {
        Self::new(Fault::Conflict, "Unique index constraint violation.")
    }

    /// Creates the failure for a version mismatch.
    pub(crate) fn precondition_failed() -> Self {
        Self::new(Fault::PreconditionFailed, PRECONDITION)
    }

    /// Creates the failure for a body, or a resulting item, that is too large.
    pub(crate) fn too_large() -> Self {
        Self::new(Fault::TooLarge, "Request size is too large")
    }

    /// Creates the failure for a response that would be too large. The operation has no effect.
    pub(crate) fn answer_too_large() -> Self {
        Self::new(Fault::AnswerTooLarge, "Response size is too large: ask for fewer items at once.")
    }

    /// Creates the failure for exhausted memory.
    pub(crate) fn out_of_memory() -> Self {
        let failure = Self::new(Fault::Unavailable, memory::InsufficientMemory.to_string());
        Self { retry_ms: Some(BUSY_RETRY_MS), ..failure }
    }

    /// Creates the failure for exhausted throughput, with the milliseconds until the next refill.
    pub(crate) fn throttled(retry_ms: u64) -> Self {
        let failure = Self::new(Fault::TooManyRequests, "Request rate is large");
        Self { retry_ms: Some(retry_ms), ..failure }
    }

    /// Creates the failure for a client address that sent too many wrong signatures. The next
    /// signature from this address is checked after `seconds`.
    pub(crate) fn too_many_guesses(seconds: u64) -> Self {
        let text = "Too many requests with a wrong signature from this address: check the key.";
        Self { retry_ms: Some(seconds * 1000), ..Self::new(Fault::TooManyGuesses, text) }
    }

    /// Creates the failure for an item whose partition key differs from the partition key in the
    /// request header.
    pub(crate) fn mismatch_of_item() -> Self {
        Self::new(
            Fault::PartitionKey,
            "PartitionKey extracted from document doesn't match the one specified in the header.",
        )
    }

    /// Creates the failure for a partition key header with more or fewer components than the
    /// definition.
    pub(crate) fn mismatch_of_definition() -> Self {
        Self::new(
            Fault::PartitionKey,
            "Partition key provided either doesn't correspond to definition in the collection or \
             doesn't match partition key field values specified in the document.",
        )
    }

    /// Converts the failure to an engine error, for callbacks that the engine runs during a write
    /// (the edit of a patch). The engine passes the error on, and `From<engine::Error>` converts it
    /// back to the same failure.
    pub(crate) fn into_engine(self) -> engine::Error {
        let kind = match self.fault {
            Fault::TooLarge | Fault::AnswerTooLarge => Kind::TooLarge,
            Fault::PreconditionFailed => Kind::Precondition,
            Fault::NotImplemented => Kind::Unsupported,
            _ => Kind::Invalid,
        };
        engine::Error::new(kind, self.text)
    }

    /// Returns the response body in Azure Cosmos DB's form: an object with a code and a message;
    /// the message is a string that contains the list of errors, the activity id and the path.
    pub(crate) fn error_body(&self, code: &str, activity: &str, uri: &str) -> Vec<u8> {
        let mut message = b"Message: ".to_vec();
        match &self.errors {
            Some(errors) => message.extend_from_slice(errors.as_bytes()),
            None => {
                message.extend_from_slice(b"{\"Errors\":[");
                json::write_string(&self.text, &mut message);
                message.extend_from_slice(b"]}");
            }
        }
        message.extend_from_slice(b"\r\nActivityId: ");
        message.extend_from_slice(activity.as_bytes());
        message.extend_from_slice(b", Request URI: ");
        message.extend_from_slice(uri.as_bytes());
        let mut body = b"{\"code\":".to_vec();
        json::write_string(code, &mut body);
        body.extend_from_slice(b",\"message\":");
        json::write_string(&String::from_utf8_lossy(&message), &mut body);
        body.push(b'}');
        body
    }
}

impl From<json::Invalid> for Failure {
    fn from(invalid: json::Invalid) -> Self {
        Self::bad_request(format!("The input content is invalid JSON: {invalid}"))
    }
}

/// Maps exhausted memory to the same failure in all operations.
impl From<memory::InsufficientMemory> for Failure {
    fn from(_: memory::InsufficientMemory) -> Self {
        Self::out_of_memory()
    }
}

impl From<auth::Denied> for Failure {
    fn from(denied: auth::Denied) -> Self {
        use auth::Denied::{EmulatorToken, Expired, Malformed, Missing, NoDate, Signature, Skewed};
        let fault = match denied {
            Missing | Malformed | NoDate | Signature | EmulatorToken => Fault::Unauthorized,
            Skewed | Expired => Fault::Forbidden,
        };
        Self::new(fault, denied.to_string())
    }
}

/// Maps the engine's errors to faults, which determine the status.
impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        let fault = match error.kind {
            Kind::Invalid | Kind::ParallelArrays | Kind::Query(_) => Fault::BadRequest,
            Kind::NotFound(ErrorSubject::Index(_)) | Kind::HintRefused(_) => Fault::BadRequest,
            Kind::NotFound(ErrorSubject::Document) => return Self::no_entity(),
            // The collection was dropped during the request, and another container may now have its
            // name: report a missing parent, so that SDKs resolve the name again.
            Kind::NotFound(ErrorSubject::DroppedCollection(_)) => return Self::no_owner(),
            Kind::NotFound(
                ErrorSubject::Collection(_)
                | ErrorSubject::RenameTarget(_)
                | ErrorSubject::DatabaseOfOtherCase { .. },
            ) => return Self::no_resource(),
            Kind::Exists(_) => return Self::already_exists(),
            Kind::DuplicateKey { .. } => return Self::unique_violation(),
            Kind::IndexConflict(_) | Kind::IndexRefused(_) | Kind::HashedArray => Fault::BadRequest,
            // Only collections of the MongoDB API have rules or are capped.
            Kind::FailedRule { .. } | Kind::ExceedsCapped => Fault::BadRequest,
            Kind::Precondition => return Self::precondition_failed(),
            Kind::Conflict | Kind::SnapshotUnavailable => Fault::RetryWith,
            Kind::TooLarge => return Self::too_large(),
            Kind::Unsupported | Kind::OutsideTransactions => Fault::NotImplemented,
            // Only the MongoDB API has cursors that lose a position, and transactions.
            Kind::Gone | Kind::PositionLost | Kind::TransactionEnded => Fault::Gone,
            Kind::Stopped(why) if why.number == STOPPING => Fault::Unavailable,
            Kind::Stopped(_) => Fault::Timeout,
            Kind::Busy => return Self::out_of_memory(),
            Kind::Full => Fault::Full,
            Kind::Unavailable | Kind::Reopened | Kind::ViewEnded | Kind::Moved => {
                Fault::Unavailable
            }
            Kind::Corrupt => Fault::Internal,
        };
        Self::new(fault, error.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(failure: &Failure) -> String {
        String::from_utf8(failure.error_body(failure.fault.table_row().2, "id", "/dbs/\"x\""))
            .unwrap()
    }

    #[test]
    fn bodies_have_the_form_that_clients_read() {
        let plain = Failure::bad_request("a \"b\"");
        let want = r#"{"code":"BadRequest","message":"Message: {\"Errors\":[\"a \\\"b\\\"\"]}\r\nActivityId: id, Request URI: /dbs/\"x\""}"#;
        assert_eq!(body(&plain), want);
        let query = Failure::invalid_query(r#"{"errors":[]}"#.to_owned());
        let want = r#"{"code":"BadRequest","message":"Message: {\"errors\":[]}\r\nActivityId: id, Request URI: /dbs/\"x\""}"#;
        assert_eq!(body(&query), want);
    }

    #[test]
    fn faults_have_their_numbers() {
        for (failure, want) in [
            (Failure::no_entity(), (404, 0, "NotFound")),
            (Failure::mismatch_of_item(), (400, 1001, "BadRequest")),
            (Failure::precondition_failed(), (412, 0, "PreconditionFailed")),
            (Failure::throttled(5), (429, 3200, "TooManyRequests")),
            (Failure::too_large(), (413, 0, "RequestEntityTooLarge")),
            (Failure::answer_too_large(), (413, 3402, "RequestEntityTooLarge")),
            (Failure::from(auth::Denied::Signature), (401, 0, "Unauthorized")),
            (Failure::from(auth::Denied::Skewed), (403, 0, "Forbidden")),
            (
                engine::Error::from(memory::InsufficientMemory).into(),
                (503, 0, "ServiceUnavailable"),
            ),
            (engine::Error::new(Kind::Conflict, "too many writers").into(), (449, 0, "RetryWith")),
            (engine::Error::new(Kind::Moved, "elsewhere").into(), (503, 0, "ServiceUnavailable")),
        ] {
            assert_eq!(failure.fault.table_row(), want, "{failure:?}");
        }
    }
}
