//! The rights that a command requires where authentication is on: which actions on which objects.
//! Each row of the command table declares them in its field `rights`, and `authorize` compares them
//! with what the sender's roles grant. This module depends on neither roles nor senders.
//!
//! ```text
//! {insert: "c", ..} on db      insert on db.c
//! {update: "c", updates: [{.., upsert: true}]}      update and insert on db.c
//! {serverStatus: 1}            serverStatus on the server
//! {ping: 1}                    nothing
//! ```

use document::{DocRef, ValueRef};
use engine::Namespace;

use crate::{
    access::{Action, Actions, Privileges, Target},
    arguments::{Args, collection_argument},
    errors::Result,
    names,
    wire::Message,
};

/// The rights that a command requires.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rights {
    /// No rights and no login.
    Open,
    /// A login is required. The command affects only the sender, or checks further rights itself.
    Login,
    /// One of these actions on the server.
    Server(&'static [Action]),
    /// One of these actions on the command's database.
    Database(&'static [Action]),
    /// One of these actions on the collection that the command names.
    Collection(&'static [Action]),
    /// A login, and the rights that this function computes from the arguments.
    ByArguments(fn(&CommandRequest<'_>) -> Result<Vec<Requirement>>),
}

/// A command whose rights are to be checked before it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandRequest<'a> {
    pub(crate) name: &'static str,
    /// The argument that names the command's collection.
    pub(crate) collection_in: &'static str,
    pub(crate) body: DocRef<'a>,
    pub(crate) database: &'a str,
    /// The message that carried the command; it may contain document sequences besides the body.
    pub(crate) message: &'a Message,
}

impl<'a> CommandRequest<'a> {
    pub(crate) fn args(&self) -> Args<'a> {
        Args::new(self.name, self.body)
    }

    /// Returns the collection that the command names.
    pub(crate) fn namespace(&self) -> Result<Namespace> {
        let named = collection_argument(self.body, self.collection_in)?;
        names::parse_collection(self.database, named)
    }

    /// Returns the string in the command's first field, for commands whose first field names a user
    /// or a role.
    pub(crate) fn first_text(&self) -> Result<&'a str> {
        match self.body.iter().next().map_or(ValueRef::Null, |(_, value)| value) {
            ValueRef::String(text) => Ok(text),
            other => Err(self.args().wrong_type(self.name, other, " 'string'")),
        }
    }

    /// Returns the collection that the command names, as the object of an action.
    pub(crate) fn collection(&self) -> Result<Object> {
        Ok(Object::Collection(self.namespace()?))
    }

    /// Returns the documents of a list, in the body or in a sequence. Elements of other types are
    /// left out; the command itself refuses them.
    pub(crate) fn listed(&self, name: &str) -> Vec<DocRef<'a>> {
        let beside = self.message.sequence(name).unwrap_or_default();
        let array = self.body.get(name).and_then(ValueRef::as_array);
        let within = array.into_iter().flat_map(|array| array.iter());
        beside
            .into_iter()
            .map(DocRef::Raw)
            .chain(within.filter_map(ValueRef::as_document))
            .collect()
    }

    /// Returns whether a boolean argument is set.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        is_set(self.body, name)
    }
}

/// Returns whether a field is true or a number other than 0. This covers every way in which
/// commands read booleans.
pub(crate) fn is_set(document: DocRef<'_>, name: &str) -> bool {
    match document.get(name) {
        Some(ValueRef::Bool(set)) => set,
        Some(value) if value.is_number() => {
            document::Number::of(value).and_then(document::Number::to_i64_exact) != Some(0)
        }
        _ => false,
    }
}

/// The object on which an action is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Server,
    /// All collections of all databases except those of the system.
    AllDatabases,
    Database(String),
    Collection(Namespace),
}

impl Object {
    /// Returns the target by which privileges are looked up.
    pub(crate) fn target(&self) -> Target<'_> {
        match self {
            Self::Server => Target::Cluster,
            Self::AllDatabases => Target::Database(""),
            Self::Database(name) => Target::Database(name),
            Self::Collection(name) => Target::Collection(&name.database, &name.collection),
        }
    }
}

/// A condition on a sender's privileges. A command may have several, and all must be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// At least one of these actions on the object is permitted.
    OneOf(Actions, Object),
    /// All of these conditions are met.
    All(Vec<Self>),
    /// At least one of these conditions is met.
    Any(Vec<Self>),
    /// The condition is not met.
    Not(Box<Self>),
}

impl Requirement {
    /// Requires one of these actions on an object.
    pub(crate) fn one_of(actions: &[Action], on: Object) -> Self {
        Self::OneOf(Actions::of(actions), on)
    }

    /// Requires an action on an object.
    pub(crate) fn of(action: Action, on: Object) -> Self {
        Self::one_of(&[action], on)
    }

    /// Requires an action on a database.
    pub(crate) fn on_database(action: Action, database: &str) -> Self {
        Self::of(action, Object::Database(database.to_owned()))
    }

    /// Returns whether these privileges meet the condition.
    pub(crate) fn is_met(&self, privileges: &Privileges) -> bool {
        match self {
            Self::OneOf(actions, on) => privileges.allows_one_of(*actions, on.target()),
            Self::All(needs) => needs.iter().all(|need| need.is_met(privileges)),
            Self::Any(needs) => needs.iter().any(|need| need.is_met(privileges)),
            Self::Not(need) => !need.is_met(privileges),
        }
    }
}

impl Rights {
    /// Returns the rights that a command requires, besides a login. Fails if the command names an
    /// invalid collection.
    pub(crate) fn needs(&self, request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
        Ok(match *self {
            Self::Open | Self::Login => Vec::new(),
            Self::Server(actions) => vec![Requirement::one_of(actions, Object::Server)],
            Self::Database(actions) => {
                vec![Requirement::one_of(actions, Object::Database(request.database.to_owned()))]
            }
            Self::Collection(actions) => vec![Requirement::one_of(actions, request.collection()?)],
            Self::ByArguments(needs) => needs(request)?,
        })
    }
}
