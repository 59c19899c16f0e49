//! The role permissions that an operation requires. They are named by Azure Cosmos DB's data
//! actions without the common prefix. `roles` checks whether a role grants them.

use super::table::Operation;

/// Common prefix of all data action names.
pub(crate) const PREFIX: &str = "Microsoft.DocumentDB/databaseAccounts/";
/// Action of reading the metadata of databases and containers.
pub(crate) const METADATA: &str = "readMetadata";

/// The role permissions that an operation requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needed {
    /// A role of any kind permits the operation: reading the account document, with which every
    /// client begins, the addresses of replicas or the certificate.
    AnyRole,
    /// A role must permit all of these actions on the requested resource.
    Actions(&'static [&'static str]),
    /// Only an account key permits the operation, and no role. In Azure Cosmos DB, roles permit
    /// such operations only in another API.
    Key,
}

impl Operation {
    /// Returns the role permissions that the operation requires.
    pub(crate) const fn needed_of_role(self) -> Needed {
        use Needed::{Actions, AnyRole, Key};
        match self {
            Self::ReadAccount | Self::ReadCertificate | Self::ReadAddresses => AnyRole,
            Self::QueryDatabases
            | Self::ListDatabases
            | Self::ReadDatabase
            | Self::QueryContainers
            | Self::ListContainers
            | Self::ReadContainer
            // Clients that read encrypted items first read the client encryption keys.
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
            // The kinds of operations in a batch are known only when its body is read, which
            // happens after authorization. So all item actions are required.
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
