//! Checks the names of collections that a command creates.

use engine::Namespace;

use super::Call;
use crate::{
    errors::{Error, Result},
    names,
    provisioning::recorded_databases,
};

impl Call<'_> {
    /// Checks the name of a new collection. Besides the errors of [`names::new_collection`], fails
    /// with 13297 if the name of a created database differs only in case; the engine compares the
    /// names of databases that have collections.
    pub(crate) fn check_new(&self, namespace: &Namespace) -> Result<()> {
        names::new_collection(&namespace.database, &namespace.collection)?;
        self.check_database_case(namespace)
    }

    /// Checks the name of a collection that `create` makes, as [`check_new`](Self::check_new) does.
    pub(crate) fn check_created(&self, namespace: &Namespace) -> Result<()> {
        names::created_collection(&namespace.database, &namespace.collection)?;
        self.check_database_case(namespace)
    }

    /// Fails with 13297 if the name of a created database differs only in case from that of
    /// `namespace`.
    fn check_database_case(&self, namespace: &Namespace) -> Result<()> {
        let database = namespace.database.as_str();
        let recorded = recorded_databases(&self.api.engine);
        let differs = |name: &&String| name.eq_ignore_ascii_case(database);
        match recorded.iter().find(differs) {
            Some(other) if !recorded.iter().any(|name| name == database) => {
                Err(Error::other_case(other, database))
            }
            _ => Ok(()),
        }
    }
}
