//! Errors as MongoDB's clients expect them: code, name, text, and for some a few more fields.
//!
//! The codes are a compatibility rule: drivers decide by them whether to retry, to select another
//! server or to give up, and applications test for them. Codes without a name are the numbers of
//! single assertions in mongod; they are shown as `Location<n>`, as mongod does.
//!
//! ```text
//! {ok: 0, errmsg: "..", code: 11000, codeName: "DuplicateKey", keyPattern: {..}, keyValue: {..}}
//! ```
//!
//! The error kinds of the engine and the evaluator get their codes in the `From` implementations
//! here and nowhere else, so a new kind does not compile without a code.

use document::{Document, Value, doc, shell};
use engine::{ErrorSubject, HintRefusal, IndexConflict, IndexRefusal, Namespace};

/// The error of a failed command or write.
#[derive(Clone, Debug)]
pub(crate) struct Error {
    pub(crate) code: i32,
    /// The message text. It equals mongod's where that is known, since applications match on it.
    pub(crate) message: String,
    /// Further fields of the reply, such as `keyPattern`.
    pub(crate) details: Document,
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Defines a constant for each name, and the function that maps a code to its name.
macro_rules! codes {
    ($($name:ident = $code:literal),* $(,)?) => {
        $(#[allow(non_upper_case_globals, dead_code, reason = "MongoDB's own names")]
        pub(crate) const $name: i32 = $code;)*

        /// Returns the name of an error code, or `Location<n>` if it has none.
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
    HostNotFound = 7, UnknownError = 8, FailedToParse = 9, CannotMutateObject = 10,
    UserNotFound = 11, UnsupportedFormat = 12, Unauthorized = 13, TypeMismatch = 14, Overflow = 15,
    InvalidLength = 16, ProtocolError = 17, AuthenticationFailed = 18, IllegalOperation = 20,
    EmptyArrayOperation = 21, InvalidBSON = 22, AlreadyInitialized = 23, LockTimeout = 24,
    NamespaceNotFound = 26,
    IndexNotFound = 27, PathNotViable = 28, InvalidPath = 30, RoleNotFound = 31,
    RolesNotRelated = 32, PrivilegeNotFound = 33, CannotBackfillArray = 34,
    UserModificationFailed = 35, ConflictingUpdateOperators = 40, CursorNotFound = 43,
    UserDataInconsistent = 45, LockBusy = 46, NoMatchingDocument = 47, NamespaceExists = 48,
    InvalidRoleModification = 49, MaxTimeMSExpired = 50, DollarPrefixedFieldName = 52,
    InvalidIdField = 53, NotSingleValueField = 54, InvalidDBRef = 55, EmptyFieldName = 56,
    DottedFieldName = 57, RoleModificationFailed = 58, CommandNotFound = 59, ShardKeyNotFound = 61,
    WriteConcernFailed = 64, ImmutableField = 66, CannotCreateIndex = 67, IndexAlreadyExists = 68,
    AuthSchemaIncompatible = 69, ShardNotFound = 70, InvalidOptions = 72, InvalidNamespace = 73,
    NoReplicationEnabled = 76, UnknownReplWriteConcern = 79, RoleDataInconsistent = 80,
    IndexOptionsConflict = 85, IndexKeySpecsConflict = 86, NetworkTimeout = 89,
    CallbackCanceled = 90, ShutdownInProgress = 91, InvalidReplicaSetConfig = 93,
    NotYetInitialized = 94, NotSecondary = 95,
    OperationFailed = 96, UnsatisfiableWriteConcern = 100,
    NewReplicaSetConfigurationIncompatible = 103, LockFailed = 107, WriteConflict = 112,
    CommandNotSupported = 115, DocTooLargeForCapped = 116, ConflictingOperationInProgress = 117,
    DocumentValidationFailure = 121, NotAReplicaSet = 123, CommandFailed = 125,
    FailedToSatisfyReadPreference = 133, ReadConcernMajorityNotAvailableYet = 134,
    CappedPositionLost = 136, CursorInUse = 143, ExceededMemoryLimit = 146,
    ReadConcernMajorityNotEnabled = 148, StaleEpoch = 150, IncompatibleCollationVersion = 161,
    ViewDepthLimitExceeded = 165, CommandNotSupportedOnView = 166,
    OptionNotSupportedOnView = 167, InvalidPipelineOperator = 168,
    CommandOnShardedViewNotSupportedOnMongod = 169, CannotIndexParallelArrays = 171,
    QueryPlanKilled = 175, AmbiguousIndexKeyPattern = 181, ClientMetadataMissingField = 183,
    ClientMetadataAppNameTooLarge = 184, ClientMetadataDocumentTooLarge = 185,
    ClientMetadataCannotBeMutated = 186, LinearizableReadConcernError = 187,
    PrimarySteppedDown = 189, ViewPipelineMaxSizeExceeded = 195,
    InvalidIndexSpecificationOption = 197,
    NetworkInterfaceExceededTimeLimit = 202, NoSuchSession = 206, InvalidUUID = 207,
    KeyNotFound = 211, AuthenticationRestrictionUnmet = 214, DatabaseDropPending = 215,
    ElectionInProgress = 216, IncompleteTransactionHistory = 217, CloseChangeStream = 222,
    IllegalOpMsgFlag = 223, QueryFeatureNotAllowed = 224, TransactionTooOld = 225,
    AtomicityFailure = 226, RetryChangeStream = 234, CursorKilled = 237, NotImplemented = 238,
    SnapshotTooOld = 239, ConversionFailure = 241, SnapshotUnavailable = 246, StaleDbVersion = 249,
    StaleChunkHistory = 250, NoSuchTransaction = 251, TransactionCommitted = 256,
    TransactionTooLarge = 257, InvalidResumeToken = 260, TooManyLogicalSessions = 261,
    ExceededTimeLimit = 262, OperationNotSupportedInTransaction = 263, FailPointSetFailed = 266,
    PreparedTransactionInProgress = 267, MigrationConflict = 272, IndexBuildAborted = 276,
    UnsatisfiableCommitQuorum = 278, ClientDisconnect = 279, ChangeStreamFatalError = 280,
    TransactionCoordinatorSteppingDown = 281, TransactionCoordinatorReachedAbortDecision = 282,
    WouldChangeOwningShard = 283, IndexBuildAlreadyInProgress = 285, ChangeStreamHistoryLost = 286,
    TransactionExceededLifetimeLimitSeconds = 290, NoQueryExecutionPlans = 291,
    QueryExceededMemoryLimitNoDiskUseAllowed = 292, DataCorruptionDetected = 301,
    ObjectIsBusy = 314, APIVersionError = 322, APIStrictError = 323, APIDeprecationError = 324,
    MechanismUnavailable = 334, APIMismatchError = 347, UnsupportedOpQueryCommand = 352,
    LoadBalancerSupportMismatch = 354, InterruptedDueToStorageChange = 355,
    CollectionUUIDMismatch = 361, TemporarilyUnavailable = 365, UserWritesBlocked = 371,
    ReauthenticationRequired = 391, IngressRequestRateLimitExceeded = 462, SocketException = 9001,
    CannotGrowDocumentInCappedNamespace = 10003, NotWritablePrimary = 10107,
    BSONObjectTooLarge = 10334, DuplicateKey = 11000, InterruptedAtShutdown = 11600,
    Interrupted = 11601, InterruptedDueToReplStateChange = 11602,
    BackgroundOperationInProgressForDatabase = 12586,
    BackgroundOperationInProgressForNamespace = 12587, DatabaseDifferCase = 13297,
    StaleConfig = 13388, NotPrimaryNoSecondaryOk = 13435, NotPrimaryOrSecondary = 13436,
    OutOfDiskSpace = 14031, TooManyRequests = 16500, KeyTooLong = 17280,
    NotARetryableWriteCommand = 50768,
}

/// Error code: a document has an array at a path of a hashed index.
const HASHED_ARRAY: i32 = 16766;
/// Error code: a user of this name exists. Replies name it `Location51003`, as mongod does.
pub(crate) const USER_EXISTS: i32 = 51003;
/// Error code: a role of this name already exists.
pub(crate) const ROLE_EXISTS: i32 = 51002;

impl Error {
    /// Creates an error without further fields.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Document::new() }
    }

    /// Returns the error of a collection that does not exist (26).
    pub(crate) fn no_collection(namespace: &Namespace) -> Self {
        Self::new(NamespaceNotFound, format!("ns does not exist: {namespace}"))
    }

    /// Returns the error (13297) of a new database whose name differs only in case from the name of
    /// an existing database.
    pub(crate) fn other_case(existing: &str, wanted: &str) -> Self {
        let message = format!(
            "db already exists with different case already have: [{existing}] trying to create [{wanted}]"
        );
        Self::new(DatabaseDifferCase, message)
    }

    /// Returns the fields of an error reply without `ok`, as entries of `bulkWrite` have them, too.
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

    /// Returns a complete error reply.
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

/// The only conversion of engine errors to codes. For conditions that MongoDB has too, the text is
/// MongoDB's; otherwise it is the engine's.
impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        use engine::Kind;
        let message = error.message;
        let code = match error.kind {
            Kind::Invalid => BadValue,
            Kind::NotFound(what) => return not_found(what, message),
            Kind::Exists(what) => return exists_already(what, message),
            Kind::Precondition => WriteConflict,
            Kind::DuplicateKey { index, pattern, value } => {
                return duplicate_key(&index, pattern, value);
            }
            Kind::IndexConflict(conflict) => return index_conflict(&conflict),
            Kind::IndexRefused(refusal) => return index_refused(&refusal, message),
            Kind::HintRefused(refusal) => return hint_refused(&refusal),
            Kind::FailedRule { details } => {
                let details = doc! { "errInfo": details };
                return Self { code: DocumentValidationFailure, message, details };
            }
            Kind::ParallelArrays => CannotIndexParallelArrays,
            Kind::HashedArray => HASHED_ARRAY,
            Kind::Conflict => WriteConflict,
            Kind::TooLarge => BSONObjectTooLarge,
            Kind::Unsupported => CommandNotSupported,
            Kind::Gone => QueryPlanKilled,
            Kind::ExceedsCapped => {
                return Self::new(BadValue, "object to insert exceeds cappedMaxSize");
            }
            Kind::PositionLost => CappedPositionLost,
            // Errors of evaluation and of stop requests already have MongoDB's codes.
            Kind::Stopped(error) | Kind::Query(error) => error.number,
            Kind::Busy => TemporarilyUnavailable,
            Kind::Full => OutOfDiskSpace,
            // Not a code by which drivers mark the server as unavailable, since they would then
            // wait until the server is available again.
            Kind::Unavailable | Kind::Reopened => TemporarilyUnavailable,
            Kind::ViewEnded => SnapshotTooOld,
            Kind::SnapshotUnavailable => SnapshotUnavailable,
            Kind::TransactionEnded => NoSuchTransaction,
            Kind::OutsideTransactions => OperationNotSupportedInTransaction,
            // A code on which drivers select another server and retry retryable operations.
            Kind::Moved => ShutdownInProgress,
            Kind::Corrupt => DataCorruptionDetected,
        };
        Self::new(code, message)
    }
}

/// Returns the error for an object that does not exist. Operations on documents never fail this way
/// in this API.
fn not_found(what: ErrorSubject, message: String) -> Error {
    match what {
        ErrorSubject::Index(name) => Error::new(IndexNotFound, format!("cannot find index {name}")),
        ErrorSubject::Document => Error::new(NoSuchKey, message),
        ErrorSubject::Collection(namespace) => Error::no_collection(&namespace),
        ErrorSubject::DroppedCollection(_)
        | ErrorSubject::RenameTarget(_)
        | ErrorSubject::DatabaseOfOtherCase { .. } => Error::new(NamespaceNotFound, message),
    }
}

/// Returns the error for an object that already exists.
fn exists_already(what: ErrorSubject, message: String) -> Error {
    match what {
        // Only items and catalog records fail this way: a unique index fails with
        // `Kind::DuplicateKey`.
        ErrorSubject::Document => Error::new(DuplicateKey, message),
        ErrorSubject::Index(_) => Error::new(IndexOptionsConflict, message),
        ErrorSubject::Collection(namespace) => {
            Error::new(NamespaceExists, format!("Collection {namespace} already exists."))
        }
        ErrorSubject::RenameTarget(_) => Error::new(NamespaceExists, "target namespace exists"),
        ErrorSubject::DatabaseOfOtherCase { existing, wanted } => {
            Error::other_case(&existing, &wanted)
        }
        ErrorSubject::DroppedCollection(_) => Error::new(NamespaceExists, message),
    }
}

/// Returns the error of a conflict with an existing index: 86 if only the names are equal, 85 for
/// any other conflict.
fn index_conflict(conflict: &IndexConflict) -> Error {
    match conflict {
        IndexConflict::NameTaken { wanted, existing } => {
            let message = format!(
                "An existing index has the same name as the requested index. When index names are \
                 not specified, they are auto generated and can cause conflicts. Requested index: \
                 {wanted:?}, existing index: {existing:?}"
            );
            Error::new(IndexKeySpecsConflict, message)
        }
        IndexConflict::OtherOptions(name) => {
            let message = format!(
                "An equivalent index already exists with the same name but different options. \
                 Index: '{name}'"
            );
            Error::new(IndexOptionsConflict, message)
        }
        IndexConflict::OtherName(name) => {
            let message = format!("Index already exists with a different name: {name}");
            Error::new(IndexOptionsConflict, message)
        }
        IndexConflict::OtherNameAndOptions(name) => {
            let message = format!(
                "An equivalent index already exists with a different name and options. \
                 Index: '{name}'"
            );
            Error::new(IndexOptionsConflict, message)
        }
    }
}

/// Returns the error 67 for an index that cannot be created.
fn index_refused(refusal: &IndexRefusal, message: String) -> Error {
    let message = match refusal {
        IndexRefusal::TooMany { namespace, pattern } => {
            let key = shell(document::ValueRef::Document(document::DocRef::Tree(pattern)));
            format!("add index fails, too many indexes for {namespace} key:{key}")
        }
        IndexRefusal::SecondText(name) => format!(
            "only one text index per collection allowed, found existing text index \"{name}\""
        ),
        IndexRefusal::FieldCount => message,
    };
    Error::new(CannotCreateIndex, message)
}

/// Returns the error of a hint that matches no index (2) or several indexes (27), or whose index
/// cannot be used as requested.
fn hint_refused(refusal: &HintRefusal) -> Error {
    match refusal {
        HintRefusal::NoIndex => {
            Error::new(BadValue, "hint provided does not correspond to an existing index")
        }
        HintRefusal::SeveralIndexes { first, second } => {
            let message = format!(
                "Hint matched multiple indexes, must hint by index name. Matched: {first} and \
                 {second}"
            );
            Error::new(IndexNotFound, message)
        }
        HintRefusal::Wildcard => Error::new(
            NoQueryExecutionPlans,
            "$hint: refusing to build whole-index solution, because it's a wildcard index",
        ),
        HintRefusal::Geometries => Error::new(
            NoQueryExecutionPlans,
            "error processing query: No query solutions: the hinted index of geometries serves no condition",
        ),
        HintRefusal::OtherFields => {
            Error::new(51174, "The index chosen is not compatible with min/max")
        }
        HintRefusal::BoundsReversed => Error::new(
            51175,
            "The value provided for min() does not come before the value provided for max() in the \
             hinted index",
        ),
    }
}

impl From<memory::InsufficientMemory> for Error {
    fn from(short: memory::InsufficientMemory) -> Self {
        Self::new(TemporarilyUnavailable, short.to_string())
    }
}

impl From<evaluation::Error> for Error {
    fn from(error: evaluation::Error) -> Self {
        Self::new(error.number, error.message)
    }
}

/// Returns the error (11000) of a value that a unique index already has. The collection's name is
/// not known here: `$NS` is its placeholder until [`Error::with_namespace`] is called. Drivers read
/// `keyPattern` and `keyValue`, and older applications parse the text.
fn duplicate_key(index: &str, pattern: Document, value: Document) -> Error {
    let shown = shell(document::ValueRef::Document(document::DocRef::Tree(&value))).to_string();
    let message =
        format!("E11000 duplicate key error collection: $NS index: {index} dup key: {shown}");
    let details = doc! { "keyPattern": pattern, "keyValue": value };
    Error { code: DuplicateKey, message, details }
}

impl Error {
    /// Fills in the name of the collection, which some error messages contain.
    pub(crate) fn with_namespace(mut self, namespace: &Namespace) -> Self {
        if self.code == DuplicateKey {
            self.message = self.message.replacen("$NS", &namespace.to_string(), 1);
        }
        self
    }

    /// Returns an entry of `writeErrors` for the statement at this position.
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

#[cfg(test)]
mod tests {
    use engine::Kind;

    use super::*;

    fn namespace() -> Namespace {
        Namespace::new("db", "c")
    }

    /// Returns the code and the text that a client gets for an engine error.
    fn shown(kind: Kind) -> (i32, String) {
        let error = Error::from(engine::Error::new(kind, "the engine's text"));
        (error.code, error.message)
    }

    #[test]
    fn codes_have_the_names_that_mongod_gives_them() {
        for (code, name) in [
            (7, "HostNotFound"),
            (34, "CannotBackfillArray"),
            (64, "WriteConcernFailed"),
            (100, "UnsatisfiableWriteConcern"),
            (133, "FailedToSatisfyReadPreference"),
            (189, "PrimarySteppedDown"),
            (202, "NetworkInterfaceExceededTimeLimit"),
            (234, "RetryChangeStream"),
            (238, "NotImplemented"),
            (262, "ExceededTimeLimit"),
            (281, "TransactionCoordinatorSteppingDown"),
            (286, "ChangeStreamHistoryLost"),
            (301, "DataCorruptionDetected"),
            (324, "APIDeprecationError"),
            (391, "ReauthenticationRequired"),
            (462, "IngressRequestRateLimitExceeded"),
            (9001, "SocketException"),
            (11602, "InterruptedDueToReplStateChange"),
            (13388, "StaleConfig"),
            (13435, "NotPrimaryNoSecondaryOk"),
            (13436, "NotPrimaryOrSecondary"),
            (40415, "Location40415"),
            (51003, "Location51003"),
        ] {
            assert_eq!(code_name(code), name);
        }
        assert_eq!(shown(Kind::Corrupt).0, 301);
    }

    #[test]
    fn kinds_with_data_have_the_texts_of_mongod() {
        let (a, b) = (doc! { "a": 1 }, doc! { "b": -1 });
        let taken = IndexConflict::NameTaken { wanted: a.clone(), existing: b.clone() };
        let taken_text = format!(
            "An existing index has the same name as the requested index. When index names are not \
             specified, they are auto generated and can cause conflicts. Requested index: {a:?}, \
             existing index: {b:?}"
        );
        let same_name = "An equivalent index already exists with the same name but different \
                         options. Index: 'a_1'";
        let other_name = "Index already exists with a different name: a_1";
        let other_both = "An equivalent index already exists with a different name and options. \
                          Index: 'a_1'";
        let several = "Hint matched multiple indexes, must hint by index name. Matched: x and y";
        let too_many = IndexRefusal::TooMany { namespace: namespace(), pattern: a };
        let (name, hints) = (
            || "a_1".to_owned(),
            HintRefusal::SeveralIndexes { first: "x".to_owned(), second: "y".to_owned() },
        );
        let (index, pattern, value) = ("_id_".to_owned(), doc! { "_id": 1 }, doc! { "_id": 7 });
        let duplicate =
            "E11000 duplicate key error collection: $NS index: _id_ dup key: { _id: 7 }";
        for (kind, code, text) in [
            (Kind::DuplicateKey { index, pattern, value }, 11000, duplicate),
            (Kind::NotFound(ErrorSubject::Collection(namespace())), 26, "ns does not exist: db.c"),
            (Kind::NotFound(ErrorSubject::DroppedCollection(namespace())), 26, "the engine's text"),
            (Kind::NotFound(ErrorSubject::Index(name())), 27, "cannot find index a_1"),
            (Kind::NotFound(ErrorSubject::Document), 4, "the engine's text"),
            (
                Kind::Exists(ErrorSubject::Collection(namespace())),
                48,
                "Collection db.c already exists.",
            ),
            (Kind::Exists(ErrorSubject::RenameTarget(namespace())), 48, "target namespace exists"),
            (
                Kind::Exists(ErrorSubject::DatabaseOfOtherCase {
                    existing: "r".into(),
                    wanted: "R".into(),
                }),
                13297,
                "db already exists with different case already have: [r] trying to create [R]",
            ),
            (Kind::Exists(ErrorSubject::Document), 11000, "the engine's text"),
            (Kind::IndexConflict(taken), 86, &*taken_text),
            (Kind::IndexConflict(IndexConflict::OtherOptions(name())), 85, same_name),
            (Kind::IndexConflict(IndexConflict::OtherName(name())), 85, other_name),
            (Kind::IndexConflict(IndexConflict::OtherNameAndOptions(name())), 85, other_both),
            (
                Kind::IndexRefused(too_many),
                67,
                "add index fails, too many indexes for db.c key:{ a: 1 }",
            ),
            (Kind::IndexRefused(IndexRefusal::FieldCount), 67, "the engine's text"),
            (
                Kind::HintRefused(HintRefusal::NoIndex),
                2,
                "hint provided does not correspond to an existing index",
            ),
            (Kind::HintRefused(hints), 27, several),
            (Kind::ParallelArrays, 171, "the engine's text"),
            (Kind::Invalid, 2, "the engine's text"),
            (Kind::Moved, 91, "the engine's text"),
        ] {
            assert_eq!(shown(kind.clone()), (code, text.to_owned()), "{kind:?}");
        }
    }
}
