//! The arguments of `$changeStream`, and the rights that it requires.

use document::{DocRef, ValueRef};
use engine::{ChangeScope, ClusterTime, Namespace};

use super::token::Token;
use crate::{
    access::Action,
    arguments::Args,
    errors::{BadValue, CommandNotSupported, Error, InvalidNamespace, InvalidOptions, Result},
    names::SYSTEM_DATABASES,
    rights::{CommandRequest, Object, Requirement},
};

const FIELDS: &[&str] = &[
    "fullDocument",
    "fullDocumentBeforeChange",
    "resumeAfter",
    "startAfter",
    "startAtOperationTime",
    "allChangesForCluster",
    "showExpandedEvents",
    "showMigrationEvents",
    "showSystemEvents",
    "showRawUpdateDescription",
    "allowToRunOnConfigDB",
    "allowToRunOnSystemNS",
];

/// Arguments that may be false only.
const UNSUPPORTED: &[&str] = &[
    "showMigrationEvents",
    "showSystemEvents",
    "showRawUpdateDescription",
    "allowToRunOnConfigDB",
    "allowToRunOnSystemNS",
];

/// Image of a document that an event contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Image {
    /// No image. Inserts and replacements have the new document nevertheless.
    None,
    /// The document as it is when the event is read; not for images before the change.
    Lookup,
    /// The image if it is kept, otherwise null.
    WhenAvailable,
    /// The image; an event without one is an error.
    Required,
}

/// The position in the change log at which a stream begins.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// The first change after the newest commit.
    Now,
    /// With the first event at or after this time.
    Time(ClusterTime),
    /// After the event or the place of a token; `after_invalidation` also permits that of an
    /// invalidation.
    Token { token: Token, after_invalidation: bool },
}

#[derive(Clone, Debug)]
pub(crate) struct StreamOptions {
    pub(super) after: Image,
    pub(super) before: Image,
    /// Whether events of collections and further fields are shown.
    pub(super) expanded: bool,
    pub(crate) start: Start,
    pub(crate) scope: ChangeScope,
}

impl StreamOptions {
    /// Parses the argument of `$changeStream` in a pipeline over this collection, or over a database
    /// if `whole_database`.
    pub(crate) fn parse(
        spec: ValueRef<'_>,
        namespace: &Namespace,
        whole_database: bool,
    ) -> Result<Self> {
        let ValueRef::Document(spec) = spec else {
            let message = "$changeStream stage expects a document as argument";
            return Err(Error::new(50808, message));
        };
        let args = Args::new("$changeStream", spec);
        args.allow_only(FIELDS)?;
        for name in UNSUPPORTED {
            if args.bool(name)?.unwrap_or(false) {
                let message = format!("$changeStream with '{name}' is not supported");
                return Err(Error::new(CommandNotSupported, message));
            }
        }
        let lookup = ("updateLookup", Image::Lookup);
        Ok(Self {
            after: parse_image(&args, "fullDocument", &[("default", Image::None), lookup])?,
            before: parse_image(&args, "fullDocumentBeforeChange", &[("off", Image::None)])?,
            expanded: args.bool("showExpandedEvents")?.unwrap_or(false),
            start: parse_start(&args)?,
            scope: parse_scope(&args, namespace, whole_database)?,
        })
    }
}

fn parse_image(args: &Args<'_>, name: &str, own: &[(&str, Image)]) -> Result<Image> {
    let Some(value) = args.str(name)? else { return Ok(Image::None) };
    let shared = [("whenAvailable", Image::WhenAvailable), ("required", Image::Required)];
    let mut known = own.iter().chain(&shared);
    let found = known.find(|(held, _)| *held == value).map(|(_, image)| *image);
    found.ok_or_else(|| {
        let message = format!(
            "Enumeration value '{value}' for field '$changeStream.{name}' is not a valid value."
        );
        Error::new(BadValue, message)
    })
}

fn parse_start(args: &Args<'_>) -> Result<Start> {
    let (resume, after) = (args.document("resumeAfter")?, args.document("startAfter")?);
    let time = match args.get("startAtOperationTime") {
        None => None,
        Some(ValueRef::Timestamp(time)) => Some(ClusterTime::from_timestamp(time)),
        Some(other) => {
            return Err(args.wrong_type("startAtOperationTime", other, " 'timestamp'"));
        }
    };
    match (resume, after, time) {
        (None, None, None) => Ok(Start::Now),
        (None, None, Some(time)) => Ok(Start::Time(time)),
        (Some(token), None, None) => {
            Ok(Start::Token { token: Token::parse(token)?, after_invalidation: false })
        }
        (None, Some(token), None) => {
            Ok(Start::Token { token: Token::parse(token)?, after_invalidation: true })
        }
        (Some(_), Some(_), None) => {
            let message =
                "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage";
            Err(Error::new(50865, message))
        }
        _ => {
            let message = "Only one type of resume option is allowed, but multiple were found.";
            Err(Error::new(40674, message))
        }
    }
}

fn parse_scope(
    args: &Args<'_>,
    namespace: &Namespace,
    whole_database: bool,
) -> Result<ChangeScope> {
    let all = args.bool("allChangesForCluster")?.unwrap_or(false);
    if all && whole_database && namespace.database == "admin" {
        return Ok(ChangeScope::All);
    }
    if all {
        let message = format!(
            "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' \
             database, and with no collection name; found {namespace}"
        );
        return Err(Error::new(InvalidOptions, message));
    }
    let refuse = |what: String| {
        let message = format!("$changeStream may not be opened on the internal {what}");
        Err(Error::new(InvalidNamespace, message))
    };
    if SYSTEM_DATABASES.contains(&&*namespace.database) {
        return refuse(format!("{} database", namespace.database));
    }
    if whole_database {
        return Ok(ChangeScope::Database(namespace.database.clone()));
    }
    if is_internal(&namespace.collection) {
        return refuse(format!("{namespace} collection"));
    }
    Ok(ChangeScope::Collection(namespace.clone()))
}

/// Returns whether changes of a collection with this name are in no stream.
pub(super) fn is_internal(collection: &str) -> bool {
    collection.starts_with("system.") || collection.contains('$')
}

/// Returns the rights that the stage requires: to read all that it shows, and to watch it.
pub(crate) fn stage_needs(
    request: &CommandRequest<'_>,
    spec: ValueRef<'_>,
) -> Result<Vec<Requirement>> {
    let all =
        |spec: DocRef<'_>| matches!(spec.get("allChangesForCluster"), Some(ValueRef::Bool(true)));
    let over_collection = matches!(request.body.get("aggregate"), Some(ValueRef::String(_)));
    let object = match spec {
        ValueRef::Document(spec) if all(spec) => Object::AllDatabases,
        _ if over_collection => request.collection()?,
        _ => Object::Database(request.database.to_owned()),
    };
    let need = |action| Requirement::of(action, object.clone());
    Ok(vec![need(Action::Find), need(Action::ChangeStream)])
}
