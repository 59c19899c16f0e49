//! Errors as MongoDB's clients expect them: code, name, text, and for some a few more fields.
//!
//! The codes are a compatibility rule: drivers decide by them whether to retry, to look for another
//! server or to give up, and applications test for them. Codes without a name are the numbers of
//! single assertions in mongod; they are shown as `Location<n>`, as it shows them.
//!
//! ```text
//! {ok: 0, errmsg: "..", code: 11000, codeName: "DuplicateKey", keyPattern: {..}, keyValue: {..}}
//! ```
//!
//! The engine and the evaluator have kinds of failures of their own. They get their codes in the
//! `From` implementations here and nowhere else, so a new kind does not compile without a code.

use document::{Document, Value, doc, shell};
use engine::What;

/// A failed command or write.
#[derive(Clone, Debug)]
pub(crate) struct Error {
    /// MongoDB's error code.
    pub(crate) code: i32,
    /// The text. Where mongod's is known it is the same, since applications match on it.
    pub(crate) message: String,
    /// Further fields of the reply, such as `keyPattern`.
    pub(crate) details: Document,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Makes a constant of each name and the function that goes back from number to name.
macro_rules! codes {
    ($($name:ident = $code:literal),* $(,)?) => {
        $(#[allow(non_upper_case_globals, dead_code, reason = "MongoDB's own names")]
        pub(crate) const $name: i32 = $code;)*

        /// The name of an error code; `Location<n>` where it has none.
        pub fn code_name(code: i32) -> std::borrow::Cow<'static, str> {
            match code {
                $($code => stringify!($name).into(),)*
                other => format!("Location{other}").into(),
            }
        }
    };
}

codes! {
    InternalError = 1, BadValue = 2, NoSuchKey = 4, GraphContainsCycle = 5, HostUnreachable = 6,
    UnknownError = 8, FailedToParse = 9, CannotMutateObject = 10, Unauthorized = 13,
    TypeMismatch = 14, Overflow = 15, InvalidLength = 16, ProtocolError = 17,
    AuthenticationFailed = 18, IllegalOperation = 20, EmptyArrayOperation = 21, InvalidBSON = 22,
    LockTimeout = 24, NamespaceNotFound = 26, IndexNotFound = 27, PathNotViable = 28,
    CannotBackfillArray = 30, ConflictingUpdateOperators = 40, CursorNotFound = 43,
    NamespaceExists = 48, MaxTimeMSExpired = 50, DollarPrefixedFieldName = 52,
    InvalidIdField = 53, NotSingleValueField = 54, InvalidDBRef = 55, EmptyFieldName = 56,
    DottedFieldName = 57, CommandNotFound = 59, ImmutableField = 66, CannotCreateIndex = 67,
    IndexAlreadyExists = 68, InvalidOptions = 72, InvalidNamespace = 73, NoReplicationEnabled = 76, OperationFailed = 96,
    WriteConcernFailed = 64, IndexOptionsConflict = 85, IndexKeySpecsConflict = 86,
    WriteConflict = 112, CommandNotSupported = 115, NetworkTimeout = 89, ShutdownInProgress = 91,
    DocumentValidationFailure = 121, NotARetryableWriteCommand = 50768, ExceededMemoryLimit = 146,
    InvalidPipelineOperator = 168, CommandOnShardedViewNotSupportedOnMongod = 169,
    CannotIndexParallelArrays = 171, QueryPlanKilled = 175, AmbiguousIndexKeyPattern = 181,
    ClientMetadataCannotBeMutated = 186, InvalidIndexSpecificationOption = 197,
    ClientMetadataAppNameTooLarge = 114, KeyTooLong = 17280, NoSuchTransaction = 251,
    UnsupportedOpQueryCommand = 352, QueryExceededMemoryLimitNoDiskUseAllowed = 292,
    BSONObjectTooLarge = 10334, DuplicateKey = 11000, OutOfDiskSpace = 14031,
    DataCorruptionDetected = 306, TransactionCoordinatorSteppingDown = 244,
    NotAReplicaSet = 123, APIVersionError = 322, APIStrictError = 323, QueryFeatureNotAllowed = 224, ReadConcernMajorityNotEnabled = 148, NotWritablePrimary = 10107,
    InvalidUUID = 207, CollectionUUIDMismatch = 361,
    TemporarilyUnavailable = 365,
    CursorKilled = 237, ClientDisconnect = 279, Interrupted = 11601, ConversionFailure = 241,
}

impl Error {
    /// An error without further fields.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Document::new() }
    }

    /// The fields of an error reply, `ok` left out: they stand in an entry of `bulkWrite` too.
    pub(crate) fn reply_fields(&self) -> Document {
        let mut fields = doc! {
            "errmsg": self.message.as_str(),
            "code": self.code,
            "codeName": code_name(self.code).as_ref(),
        };
        for (name, value) in self.details.fields() {
            fields.push(name.clone(), value.clone());
        }
        fields
    }

    /// A whole error reply.
    pub(crate) fn to_reply(&self) -> Document {
        let mut reply = doc! { "ok": 0.0 };
        for (name, value) in self.reply_fields() {
            reply.push(name, value);
        }
        reply
    }
}

impl From<mongo_query::Error> for Error {
    fn from(error: mongo_query::Error) -> Self {
        Self::new(error.code, error.message)
    }
}

/// The one place where engine errors get codes.
impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        use engine::Kind;
        let message = error.message;
        let code = match error.kind {
            Kind::Invalid => BadValue,
            Kind::NotFound(What::Index) => IndexNotFound,
            // This door's operations on documents find none, or refuse keys.
            Kind::NotFound(What::Document) => NoSuchKey,
            Kind::Exists(What::Document) => DuplicateKey,
            Kind::Precondition => WriteConflict,
            Kind::NotFound(What::Collection | What::Database) => NamespaceNotFound,
            Kind::Exists(What::Index) => IndexOptionsConflict,
            Kind::Exists(What::Collection | What::Database) => NamespaceExists,
            Kind::DuplicateKey { index, pattern, value } => {
                return duplicate_key(&index, pattern, value);
            }
            Kind::IndexConflict { name: true } => IndexKeySpecsConflict,
            Kind::IndexConflict { name: false } => IndexOptionsConflict,
            Kind::IndexRefused => CannotCreateIndex,
            Kind::ParallelArrays => CannotIndexParallelArrays,
            Kind::Conflict => WriteConflict,
            Kind::TooLarge => BSONObjectTooLarge,
            Kind::Unsupported => CommandNotSupported,
            Kind::Gone => QueryPlanKilled,
            // Evaluation and stopping know MongoDB's numbers themselves.
            Kind::Stopped(error) | Kind::Query(error) => error.number,
            Kind::Busy => TemporarilyUnavailable,
            Kind::Full => OutOfDiskSpace,
            // Not one of the codes by which drivers take a server for gone: they would wait for it.
            Kind::Unavailable => TemporarilyUnavailable,
            Kind::Corrupt => DataCorruptionDetected,
        };
        Self::new(code, message)
    }
}

impl From<memory::Short> for Error {
    fn from(short: memory::Short) -> Self {
        Self::new(TemporarilyUnavailable, short.to_string())
    }
}

impl From<evaluation::Error> for Error {
    fn from(error: evaluation::Error) -> Self {
        Self::new(error.number, error.message)
    }
}

/// The error (11000) of a value that a unique index has already. The collection's name is not known
/// here: `$NS` stands for it until [`Error::with_namespace`] is called. Drivers read `keyPattern`
/// and `keyValue`, and the text, which older applications parse.
fn duplicate_key(index: &str, pattern: Document, value: Document) -> Error {
    let shown = shell(document::ValueRef::Document(document::DocRef::Tree(&value))).to_string();
    let message =
        format!("E11000 duplicate key error collection: $NS index: {index} dup key: {shown}");
    let details = doc! { "keyPattern": pattern, "keyValue": value };
    Error { code: DuplicateKey, message, details }
}

impl Error {
    /// The same error about a collection: some texts name it.
    pub(crate) fn with_namespace(mut self, namespace: &engine::Namespace) -> Self {
        if self.code == DuplicateKey {
            self.message = self.message.replacen("$NS", &namespace.to_string(), 1);
        }
        self
    }

    /// An entry of `writeErrors` for the statement at this position.
    pub(crate) fn write_error(&self, index: usize) -> Value {
        let mut entry = doc! {
            "index": i32::try_from(index).unwrap_or(i32::MAX),
            "code": self.code,
        };
        for (name, value) in self.details.fields() {
            entry.push(name.clone(), value.clone());
        }
        entry.push("errmsg", self.message.as_str());
        Value::Document(entry)
    }
}
