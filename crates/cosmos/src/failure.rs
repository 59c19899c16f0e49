//! Errors as the clients of this API expect them: status, sub-status, name, text. The one place
//! where failures of the engine and of signatures get them.
//!
//! Clients go by status and sub-status; SDKs retry 408, 410, 429, 449 and 503 by themselves, in
//! different ways. So a fault is named after what the client does next, and two failures that a
//! client treats alike may share one. Texts are for people; where the service has one for the case,
//! it is used.

use std::borrow::Cow;

use document::json;
use engine::{Kind, What};

use crate::interrupt::STOPPING;

/// What went wrong, sorted by what the client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request is wrong in itself; sent again it will be wrong again.
    BadRequest,
    /// The partition keys of header and item differ. SDKs read the definition of the container anew
    /// and try once more.
    PartitionKey,
    /// The client means a container that was made anew under the same name.
    Recreated,
    /// The signature is missing or wrong.
    Unauthorized,
    /// The sender is known and may not do this; also a date that is too far from the server's.
    Forbidden,
    /// Only a key of the account does this, and the sender has a token of an identity service.
    NotForTokens,
    /// No role of the sender permits to read what databases and containers are like.
    NoMetadataRole,
    /// No role of the sender permits this.
    NoDataRole,
    /// There is nothing of that name.
    NotFound,
    /// The session is ahead of the server. SDKs try again, elsewhere or later.
    Session,
    /// What should hold the resource is not there.
    OwnerNotFound,
    /// The kind of resource does not have this method.
    MethodNotAllowed,
    /// The request took too long to arrive or to be computed.
    Timeout,
    /// There is one of that name, or with that unique key, already.
    Conflict,
    /// The partition key range does not exist. SDKs read the list of ranges anew.
    Gone,
    /// The item has another version than the one that the request is about, or does not meet the
    /// condition of a patch.
    PreconditionFailed,
    /// The request, or the item that it would make, is too large.
    TooLarge,
    /// The response would be too large; the client asks for less at once.
    AnswerTooLarge,
    /// The body is compressed.
    UnsupportedMediaType,
    /// The operation of a batch failed only because another one did.
    FailedDependency,
    /// The request names a host that does not belong to this server.
    Misdirected,
    /// The throughput is spent.
    TooManyRequests,
    /// Too many wrong signatures came from there.
    TooManyGuesses,
    /// Other writers came first too often; the client tries again.
    RetryWith,
    /// Data are damaged, or the server has a fault.
    Internal,
    /// The service has it and this server has not.
    NotImplemented,
    /// The server cannot serve for the moment: it stops, its disk has failed, or memory is held by
    /// others.
    Unavailable,
    /// The disk is full.
    Full,
}

impl Fault {
    /// All of them, for the table in the documentation.
    pub(crate) const ALL: [Self; 28] = [
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

    /// Status, sub-status and name: the whole table, so that two faults can be compared at a
    /// glance. Pairs of status and sub-status are the service's where it has the failure.
    const fn table_row(self) -> (u16, u32, &'static str) {
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

    /// HTTP status of the response.
    pub(crate) const fn status(self) -> u16 {
        self.table_row().0
    }

    /// What stands in the header `x-ms-substatus`.
    pub(crate) const fn sub_status(self) -> u32 {
        self.table_row().1
    }

    /// The name in the body.
    pub(crate) const fn code(self) -> &'static str {
        self.table_row().2
    }
}

/// A refused or failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What the client does next.
    pub(crate) fault: Fault,
    /// For people.
    pub(crate) text: Cow<'static, str>,
    /// A JSON object that takes the place of the list of texts: errors of a query.
    pub(crate) errors: Option<Box<str>>,
    /// After how many milliseconds the request may go well; SDKs wait for as long.
    pub(crate) retry_ms: Option<u64>,
    /// The log sequence number that the response names; 0 where the request was about no container.
    pub(crate) seq: u64,
}

/// Milliseconds after which a request may find memory that others hold now. It is long for a
/// request and short for a person: most of that memory belongs to requests that end within it.
const BUSY_RETRY_MS: u64 = 500;

/// What can fail as clients see it.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// What a text names when an item, or anything in a container, is not there.
const NO_ENTITY: &str = "Entity with the specified id does not exist in the system. Resource Not \
                         Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found";
/// What is said where something in a missing database or container is asked for. Clients look for it.
const NO_OWNER: &str = "Owner resource does not exist. Resource Not Found. Learn more: \
                        https://aka.ms/cosmosdb-tsg-not-found";
/// What is said where an item has another version than the request names.
const PRECONDITION: &str = "One of the specified pre-condition is not met. Learn more: \
                            https://aka.ms/CosmosDB/sql/errors/precondition-failed";
/// What is said of missing databases and containers.
const NO_RESOURCE: &str = "Resource Not Found. Learn more: https://aka.ms/cosmosdb-tsg-not-found";

impl Failure {
    /// A failure with a text. Faults that pass by themselves say that the request may come again at
    /// once, so that SDKs do not wait for longer than they need.
    pub(crate) fn new(fault: Fault, text: impl Into<Cow<'static, str>>) -> Self {
        let retry_ms = matches!(fault, Fault::RetryWith | Fault::Unavailable).then_some(10);
        Self { fault, text: text.into(), errors: None, retry_ms, seq: 0 }
    }

    /// A request that is wrong in itself.
    pub(crate) fn bad_request(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Fault::BadRequest, text)
    }

    /// A query that does not compile. The object with its errors takes the place of the list of
    /// texts, as in the service; SDKs show it as it is.
    pub(crate) fn invalid_query(errors: String) -> Self {
        Self { errors: Some(errors.into()), ..Self::new(Fault::BadRequest, "") }
    }

    /// Something the service has and this server has not.
    pub(crate) fn unsupported(what: &str) -> Self {
        Self::new(Fault::NotImplemented, format!("{what} is not supported by this server."))
    }

    /// An item, or anything else in a container, that is not there.
    pub(crate) fn no_entity() -> Self {
        Self::new(Fault::NotFound, NO_ENTITY)
    }

    /// A database or container that is not there.
    pub(crate) fn no_resource() -> Self {
        Self::new(Fault::NotFound, NO_RESOURCE)
    }

    /// A database, container or user that is not there, where the request is about something in it.
    pub(crate) fn no_owner() -> Self {
        Self::new(Fault::OwnerNotFound, NO_OWNER)
    }

    /// A name that is taken.
    pub(crate) fn already_exists() -> Self {
        Self::new(Fault::Conflict, "Entity with the specified id already exists in the system.")
    }

    /// A unique key that another item has.
    pub(crate) fn unique_violation() -> Self {
        Self::new(Fault::Conflict, "Unique index constraint violation.")
    }

    /// A version that is not the one that the request is about.
    pub(crate) fn precondition_failed() -> Self {
        Self::new(Fault::PreconditionFailed, PRECONDITION)
    }

    /// A body that is too large, or an item that would be.
    pub(crate) fn too_large() -> Self {
        Self::new(Fault::TooLarge, "Request size is too large")
    }

    /// A response that would be too large. What it would have done is not done.
    pub(crate) fn answer_too_large() -> Self {
        Self::new(Fault::AnswerTooLarge, "Response size is too large: ask for fewer items at once.")
    }

    /// Other requests hold the memory that this one needs.
    pub(crate) fn out_of_memory() -> Self {
        let failure = Self::new(Fault::Unavailable, memory::Short.to_string());
        Self { retry_ms: Some(BUSY_RETRY_MS), ..failure }
    }

    /// The throughput is spent, for this many milliseconds.
    pub(crate) fn throttled(retry_ms: u64) -> Self {
        let failure = Self::new(Fault::TooManyRequests, "Request rate is large");
        Self { retry_ms: Some(retry_ms), ..failure }
    }

    /// A wrong signature, of which there were too many: one is looked at again after this many
    /// seconds.
    pub(crate) fn too_many_guesses(seconds: u64) -> Self {
        let text =
            "Too many requests with a wrong signature came from this address: check the key.";
        Self { retry_ms: Some(seconds * 1000), ..Self::new(Fault::TooManyGuesses, text) }
    }

    /// An item whose partition key is not that of the header.
    pub(crate) fn mismatch_of_item() -> Self {
        Self::new(
            Fault::PartitionKey,
            "PartitionKey extracted from document doesn't match the one specified in the header.",
        )
    }

    /// A header whose partition key has more or fewer components than the container's.
    pub(crate) fn mismatch_of_definition() -> Self {
        Self::new(
            Fault::PartitionKey,
            "Partition key provided either doesn't correspond to definition in the collection or \
             doesn't match partition key field values specified in the document.",
        )
    }

    /// The same as an error of the engine, for what the engine asks this crate in the middle of a
    /// write: the edit of a patch. The engine hands it back, and the conversion below makes the
    /// same failure of it.
    pub(crate) fn into_engine(self) -> engine::Error {
        let kind = match self.fault {
            Fault::TooLarge | Fault::AnswerTooLarge => Kind::TooLarge,
            Fault::PreconditionFailed => Kind::Precondition,
            Fault::NotImplemented => Kind::Unsupported,
            _ => Kind::Invalid,
        };
        engine::Error::new(kind, self.text)
    }

    /// The body of the response. Its form is the service's: an object whose message is a text with
    /// the list of errors, the activity id and the path in it.
    pub(crate) fn error_body(&self, activity: &str, uri: &str) -> Vec<u8> {
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
        json::write_string(self.fault.code(), &mut body);
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

/// Memory that cannot be had is always the same failure, wherever it was asked for.
impl From<memory::Short> for Failure {
    fn from(_: memory::Short) -> Self {
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

/// The one place where errors of the engine get a status.
impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        let fault = match error.kind {
            Kind::Invalid | Kind::ParallelArrays | Kind::Query(_) => Fault::BadRequest,
            Kind::NotFound(What::Index(_)) | Kind::HintRefused(_) => Fault::BadRequest,
            Kind::NotFound(What::Document) => return Self::no_entity(),
            // It was there when the request began.
            Kind::NotFound(What::DroppedCollection(_)) => return Self::no_owner(),
            Kind::NotFound(
                What::Collection(_) | What::RenameTarget(_) | What::DatabaseOfOtherCase { .. },
            ) => return Self::no_resource(),
            Kind::Exists(_) => return Self::already_exists(),
            Kind::DuplicateKey { .. } => return Self::unique_violation(),
            Kind::IndexConflict(_) | Kind::IndexRefused(_) => Fault::BadRequest,
            Kind::Precondition => return Self::precondition_failed(),
            Kind::Conflict => Fault::RetryWith,
            Kind::TooLarge => return Self::too_large(),
            Kind::Unsupported => Fault::NotImplemented,
            Kind::Gone => Fault::Gone,
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
        String::from_utf8(failure.error_body("id", "/dbs/\"x\"")).unwrap()
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
            (engine::Error::from(memory::Short).into(), (503, 0, "ServiceUnavailable")),
            (engine::Error::new(Kind::Conflict, "too many writers").into(), (449, 0, "RetryWith")),
            (engine::Error::new(Kind::Moved, "elsewhere").into(), (503, 0, "ServiceUnavailable")),
        ] {
            assert_eq!(failure.fault.table_row(), want, "{failure:?}");
        }
    }
}
