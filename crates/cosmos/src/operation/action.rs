//! What a role has to permit for an operation: the service's data actions, by their names there without
//! what they all begin with. Whether a role permits them is decided in `roles`.

use super::table::Operation;

/// What the names of all data actions begin with.
pub(crate) const PREFIX: &str = "Microsoft.DocumentDB/databaseAccounts/";
/// Reading what databases and containers are like.
pub(crate) const METADATA: &str = "readMetadata";

/// What a role has to permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    /// Nothing: whoever has any role may ask where the account is, since every client does so first.
    AnyRole,
    /// All of these actions, on the resource that is asked for.
    Actions(&'static [&'static str]),
    /// More than any role: only a key does that, as in the service, where it is done elsewhere.
    Key,
}

impl Operation {
    /// Returns what a role has to permit for it.
    pub(crate) const fn needed_of_role(self) -> Needed {
        use Needed::{Actions, AnyRole, Key};
        match self {
            Self::ReadAccount | Self::ReadCertificate => AnyRole,
            Self::QueryDatabases
            | Self::ListDatabases
            | Self::ReadDatabase
            | Self::QueryContainers
            | Self::ListContainers
            | Self::ReadContainer
            // Clients that read encrypted items read the keys first.
            | Self::QueryClientKeys
            | Self::ListClientKeys
            | Self::ReadClientKey
            | Self::ListRanges => Actions(&[METADATA]),
            Self::ReadItem => Actions(&["sqlDatabases/containers/items/read"]),
            Self::CreateItem => Actions(&["sqlDatabases/containers/items/create"]),
            Self::UpsertItem => Actions(&["sqlDatabases/containers/items/upsert"]),
            Self::ReplaceItem | Self::PatchItem => {
                Actions(&["sqlDatabases/containers/items/replace"])
            }
            Self::DeleteItem | Self::DeletePartition => {
                Actions(&["sqlDatabases/containers/items/delete"])
            }
            // What is in a batch is known only when its body is read, which strangers must not send.
            Self::Batch => Actions(&[
                "sqlDatabases/containers/items/create",
                "sqlDatabases/containers/items/upsert",
                "sqlDatabases/containers/items/replace",
                "sqlDatabases/containers/items/delete",
                "sqlDatabases/containers/items/read",
            ]),
            Self::QueryItems | Self::QueryPlan | Self::ListItems => {
                Actions(&["sqlDatabases/containers/executeQuery"])
            }
            Self::ChangeFeed => Actions(&["sqlDatabases/containers/readChangeFeed"]),
            Self::ExecuteProcedure => Actions(&["sqlDatabases/containers/executeStoredProcedure"]),
            Self::QueryConflicts
            | Self::ListConflicts
            | Self::ReadConflict
            | Self::DeleteConflict => Actions(&["sqlDatabases/containers/manageConflicts"]),
            Self::CreateDatabase
            | Self::DeleteDatabase
            | Self::CreateContainer
            | Self::ReplaceContainer
            | Self::DeleteContainer
            | Self::CreateScript
            | Self::QueryScripts
            | Self::ListScripts
            | Self::ReadScript
            | Self::ReplaceScript
            | Self::DeleteScript
            | Self::CreateUser
            | Self::QueryUsers
            | Self::ListUsers
            | Self::ReadUser
            | Self::ReplaceUser
            | Self::DeleteUser
            | Self::CreatePermission
            | Self::QueryPermissions
            | Self::ListPermissions
            | Self::ReadPermission
            | Self::ReplacePermission
            | Self::DeletePermission
            | Self::CreateClientKey
            | Self::ReplaceClientKey
            | Self::QueryOffers
            | Self::ListOffers
            | Self::ReadOffer
            | Self::ReplaceOffer
            | Self::NotAllowed(..) => Key,
        }
    }
}
