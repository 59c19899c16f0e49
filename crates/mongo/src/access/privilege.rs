//! Privileges: actions on resources, and sets of them. A set determines whether an action on a
//! target is permitted; `roles_of` builds it from roles.

use document::{ArrayRef, DocRef, Document, Value, ValueRef, doc};

use super::{
    action::{Action, Actions},
    resource::{Key, Resource, Target},
};
use crate::{
    arguments::Args,
    errors::{BadValue, Error, FailedToParse, InvalidRoleModification, Result},
    limits::{MAX_PRIVILEGES, SHOWN_BYTES},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Privilege {
    pub(crate) resource: Resource,
    pub(crate) actions: Actions,
}

impl Privilege {
    pub(crate) fn new(resource: Resource, actions: Actions) -> Self {
        Self { resource, actions }
    }

    /// Reads `{resource: {..}, actions: [..]}`; unrecognized action names are added to `unknown`.
    fn parse(document: DocRef<'_>, unknown: &mut Vec<String>) -> Result<Self> {
        let args = Args::new("privilege", document);
        args.allow_only(&["resource", "actions"])?;
        let resource = Resource::parse(args.need_document("resource")?)?;
        let mut actions = Actions::NONE;
        for (at, value) in args.need_array("actions")?.iter().enumerate() {
            let ValueRef::String(name) = value else {
                return Err(args.wrong_type(&format!("actions.{at}"), value, " 'string'"));
            };
            match Action::from_name(name) {
                Some(action) => actions.insert(action),
                None => unknown.push(name.to_owned()),
            }
        }
        // A set does not store a privilege without actions, so no right would be required for
        // granting privileges on its resource.
        if actions.is_empty() && unknown.is_empty() {
            return Err(Error::new(FailedToParse, "missing actions field"));
        }
        Ok(Self { resource, actions })
    }

    /// Returns the privilege in the form that `parse` reads.
    pub(crate) fn to_document(&self) -> Document {
        let names: Vec<Value> = self.actions.names().into_iter().map(Value::from).collect();
        doc! { "resource": self.resource.to_document(), "actions": names }
    }
}

/// A set of privileges: one for each resource, none without actions, sorted by resource, and at
/// most [`MAX_PRIVILEGES`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Privileges(Vec<Privilege>);

impl Privileges {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn place(&self, key: Key<'_>) -> std::result::Result<usize, usize> {
        self.0.binary_search_by(|entry| entry.resource.key().cmp(&key))
    }

    /// Returns the privilege on a resource. Broad resources come first and are found without
    /// comparing names, since the commands of most users need them.
    fn entry(&self, key: Key<'_>) -> Option<&Privilege> {
        if key.is_broad() {
            return self.0.iter().take(Key::BROAD).find(|entry| entry.resource.key() == key);
        }
        self.0.get(self.place(key).ok()?)
    }

    /// Adds the actions of a privilege to those on the same resource. Fails with 2, without a
    /// change, if the set would have too many resources.
    pub(crate) fn add(&mut self, privilege: Privilege) -> Result<()> {
        if privilege.actions.is_empty() {
            return Ok(());
        }
        match self.place(privilege.resource.key()) {
            Ok(at) => {
                if let Some(entry) = self.0.get_mut(at) {
                    entry.actions = entry.actions.union(privilege.actions);
                }
            }
            Err(_) if MAX_PRIVILEGES <= self.0.len() => {
                let message = format!("privileges on more than {MAX_PRIVILEGES} resources");
                return Err(Error::new(BadValue, message));
            }
            Err(at) => self.0.insert(at, privilege),
        }
        Ok(())
    }

    /// Adds all privileges of another set. Fails with 2 if the set would have too many resources;
    /// the privileges added before that stay in the set.
    pub(crate) fn add_all(&mut self, others: &Self) -> Result<()> {
        others.iter().try_for_each(|privilege| self.add(privilege.clone()))
    }

    /// Removes the actions of a privilege from the privilege on the same resource. Privileges on
    /// other resources stay, even if they cover the same collections.
    pub(crate) fn remove(&mut self, privilege: &Privilege) {
        let Ok(at) = self.place(privilege.resource.key()) else { return };
        let Some(entry) = self.0.get_mut(at) else { return };
        entry.actions = entry.actions.without(privilege.actions);
        if entry.actions.is_empty() {
            self.0.remove(at);
        }
    }

    /// Removes all privileges of another set.
    pub(crate) fn remove_all(&mut self, others: &Self) {
        for privilege in others.iter() {
            self.remove(privilege);
        }
    }

    /// Returns the privileges, sorted by resource.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Privilege> {
        self.0.iter()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the privileges that cover a target.
    fn covering<'a>(&'a self, target: Target<'a>) -> impl Iterator<Item = &'a Privilege> {
        target.covering().filter_map(|key| self.entry(key))
    }

    /// Returns whether the action is permitted on the target.
    pub(crate) fn allows(&self, action: Action, target: Target<'_>) -> bool {
        self.covering(target).any(|privilege| privilege.actions.contains(action))
    }

    /// Returns whether one of these actions is permitted on the target.
    pub(crate) fn allows_one_of(&self, actions: Actions, target: Target<'_>) -> bool {
        self.covering(target).any(|privilege| privilege.actions.has_one_of(actions))
    }

    /// Returns whether all these actions are permitted on the target, by one privilege or by
    /// several.
    #[cfg(test)]
    pub(crate) fn allows_all(&self, actions: Actions, target: Target<'_>) -> bool {
        self.actions_on(target).contains_all(actions)
    }

    /// Returns all actions that are permitted on the target.
    pub(crate) fn actions_on(&self, target: Target<'_>) -> Actions {
        self.covering(target).fold(Actions::NONE, |all, privilege| all.union(privilege.actions))
    }

    /// Returns whether anything is permitted on the database or on a collection in it. Users who
    /// may not list all databases see such a database's name.
    pub(crate) fn allows_any_on_database(&self, database: &str) -> bool {
        self.iter().any(|privilege| privilege.resource.concerns(database))
    }

    /// Returns whether anything is permitted on the collection. Users who may not list all
    /// collections see such a collection's name.
    pub(crate) fn allows_any_on_collection(&self, database: &str, collection: &str) -> bool {
        !self.actions_on(Target::Collection(database, collection)).is_empty()
    }

    /// Checks that a role in this database may have these privileges (49): roles in `admin` may
    /// have any privileges, all other roles only privileges on their own database.
    pub(crate) fn check_scope(&self, database: &str) -> Result<()> {
        let is_inside = |entry: &Privilege| entry.resource.database() == Some(database);
        if database == "admin" || self.iter().all(is_inside) {
            return Ok(());
        }
        let message = format!(
            "Roles on the '{database}' database cannot be granted privileges that target other \
             databases or the cluster"
        );
        Err(Error::new(InvalidRoleModification, message))
    }

    /// Reads an array of privilege documents. As in MongoDB, every error in one of them has code 9;
    /// too many resources have code 2.
    pub(crate) fn parse(array: ArrayRef<'_>) -> Result<Self> {
        let mut set = Self::new();
        let mut unknown = Vec::new();
        for value in array.iter() {
            let Some(document) = value.as_document() else {
                let message = "Elements in privilege arrays must be objects";
                return Err(Error::new(FailedToParse, message));
            };
            let privilege = Privilege::parse(document, &mut unknown)
                .map_err(|error| Error::new(FailedToParse, error.message))?;
            if !unknown.is_empty() {
                let names: String = unknown.join(",").chars().take(SHOWN_BYTES).collect();
                let message = format!("Unrecognized action privilege strings: {names}");
                return Err(Error::new(FailedToParse, message));
            }
            set.add(privilege)?;
        }
        Ok(set)
    }

    /// Returns the privileges in the form that `parse` reads.
    pub(crate) fn to_value(&self) -> Value {
        Value::from(self.iter().map(Privilege::to_document).collect::<Vec<_>>())
    }
}

impl<'a> IntoIterator for &'a Privileges {
    type Item = &'a Privilege;
    type IntoIter = std::slice::Iter<'a, Privilege>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests;
