//! What a command asks of whoever sends it, where clients have to log in: which actions on what. Each
//! row of the table of commands says it in its column `rights`, and `authorize` holds it against what
//! the sender's roles give. Nothing here knows roles or senders.
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

/// What a command asks of its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rights {
    /// Nothing: anybody may send it, also before a login.
    Open,
    /// A login. What it does is the sender's own, or it looks at the sender's rights itself.
    Login,
    /// One of these actions on the server.
    Server(&'static [Action]),
    /// One of these actions on its database.
    Database(&'static [Action]),
    /// One of these actions on the collection that it names.
    Collection(&'static [Action]),
    /// What its arguments say, beside a login.
    ByArguments(fn(&Asked<'_>) -> Result<Vec<Need>>),
}

/// A command before anything of it has run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The command's name.
    pub(crate) name: &'static str,
    /// The argument that names its collection.
    pub(crate) collection_in: &'static str,
    pub(crate) body: DocRef<'a>,
    pub(crate) database: &'a str,
    /// The message it came in, which may hold lists beside the body.
    pub(crate) message: &'a Message,
}

impl<'a> Asked<'a> {
    /// Its arguments.
    pub(crate) fn args(&self) -> Args<'a> {
        Args::new(self.name, self.body)
    }

    /// The collection that it names.
    pub(crate) fn namespace(&self) -> Result<Namespace> {
        let named = collection_argument(self.body, self.collection_in)?;
        names::parse_collection(self.database, named)
    }

    /// The text of its first field, for commands that name a user or a role there.
    pub(crate) fn first_text(&self) -> Result<&'a str> {
        match self.body.iter().next().map_or(ValueRef::Null, |(_, value)| value) {
            ValueRef::String(text) => Ok(text),
            other => Err(self.args().wrong_type(self.name, other, " 'string'")),
        }
    }

    /// The collection that it names, as the object of a need.
    pub(crate) fn collection(&self) -> Result<Object> {
        Ok(Object::Collection(self.namespace()?))
    }

    /// The documents of a list in the body or beside it, of what type whoever checks them later says.
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

    /// Whether an argument that takes booleans in some form is set.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        is_set(self.body, name)
    }
}

/// Whether a field is true, or a number but 0: whichever way the command reads it, what it takes for
/// true is among them.
pub(crate) fn is_set(document: DocRef<'_>, name: &str) -> bool {
    match document.get(name) {
        Some(ValueRef::Bool(set)) => set,
        Some(value) if value.is_number() => {
            document::Number::of(value).and_then(document::Number::to_i64_exact) != Some(0)
        }
        _ => false,
    }
}

/// What an action is done to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// The server.
    Server,
    /// A database.
    Database(String),
    /// A collection.
    Collection(Namespace),
}

impl Object {
    /// The same as privileges are asked about it.
    pub(crate) fn target(&self) -> Target<'_> {
        match self {
            Self::Server => Target::Cluster,
            Self::Database(name) => Target::Database(name),
            Self::Collection(name) => Target::Collection(&name.database, &name.collection),
        }
    }
}

/// What is needed of a sender's rights. A command may have several needs, and all have to be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// One of these actions on an object.
    OneOf(Actions, Object),
    /// All of these.
    All(Vec<Self>),
    /// One of these.
    Any(Vec<Self>),
    /// Not this.
    Not(Box<Self>),
}

impl Need {
    /// One of these actions on an object.
    pub(crate) fn one_of(actions: &[Action], on: Object) -> Self {
        Self::OneOf(Actions::of(actions), on)
    }

    /// An action on an object.
    pub(crate) fn of(action: Action, on: Object) -> Self {
        Self::one_of(&[action], on)
    }

    /// An action on a database.
    pub(crate) fn on_database(action: Action, database: &str) -> Self {
        Self::of(action, Object::Database(database.to_owned()))
    }

    /// Whether these privileges meet it.
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
    /// What a command needs beside a login, where it needs one.
    ///
    /// Errors: those of the name of a collection that cannot be one.
    pub(crate) fn needs(&self, asked: &Asked<'_>) -> Result<Vec<Need>> {
        Ok(match *self {
            Self::Open | Self::Login => Vec::new(),
            Self::Server(actions) => vec![Need::one_of(actions, Object::Server)],
            Self::Database(actions) => {
                vec![Need::one_of(actions, Object::Database(asked.database.to_owned()))]
            }
            Self::Collection(actions) => vec![Need::one_of(actions, asked.collection()?)],
            Self::ByArguments(needs) => needs(asked)?,
        })
    }
}
