//! MongoDB's built-in roles, as in its manual: one table, by name. User-defined roles are in
//! `role`; the roles of a user are resolved in `roles_of`.
//!
//! The privileges are limited to objects that can exist here. The only system collection is
//! `system.js`, but the privileges include `system.users`, `system.roles`, `system.views`,
//! `system.profile` and `system.replset`, since tools check a role's privileges before they start.
//! `__system` is not offered.
//!
//! EbbDB's additions: `ebbClock` and `configureFailPoint` belong to `hostManager`, `clusterAdmin`
//! and `root`; `ebbExpiry` belongs to every role with `read`. `root` may do everything on the
//! cluster and has all rights on `config` and `local`, of which MongoDB grants only some.

mod sets;

use super::{privilege::Privileges, role::Role, role_name::RoleName};

/// The database whose roles may apply to all databases.
const ADMIN: &str = "admin";

/// Adds the privileges of a built-in role; the second argument is the role's database.
type GrantFunction = fn(&mut sets::PrivilegeBuilder, &str);

/// Roles that every database has, by name.
const EVERYWHERE: &[(&str, GrantFunction)] = &[
    ("dbAdmin", sets::db_admin),
    ("dbOwner", sets::db_owner),
    ("read", sets::read),
    ("readWrite", sets::read_write),
    ("userAdmin", sets::user_admin),
];

/// Roles that only `admin` has, by name.
const ON_ADMIN: &[(&str, GrantFunction)] = &[
    ("backup", |to, _| sets::backup(to)),
    ("clusterAdmin", |to, _| sets::cluster_admin(to)),
    ("clusterManager", |to, _| sets::cluster_manager(to)),
    ("clusterMonitor", |to, _| sets::cluster_monitor(to)),
    ("dbAdminAnyDatabase", |to, _| sets::db_admin_any_database(to)),
    ("hostManager", |to, _| sets::host_manager(to)),
    ("readAnyDatabase", |to, _| sets::read_any_database(to)),
    ("readWriteAnyDatabase", |to, _| sets::read_write_any_database(to)),
    ("restore", |to, _| sets::restore(to)),
    ("root", |to, _| sets::root(to)),
    ("userAdminAnyDatabase", |to, _| sets::user_admin_any_database(to)),
];

/// Returns the roles of a database. `$external` has none: it holds only users.
fn tables(database: &str) -> impl Iterator<Item = &'static (&'static str, GrantFunction)> {
    let everywhere = if database == "$external" { &[] } else { EVERYWHERE };
    let on_admin = if database == ADMIN { ON_ADMIN } else { &[] };
    everywhere.iter().chain(on_admin)
}

fn find(name: &RoleName) -> Option<GrantFunction> {
    tables(&name.database).find(|(role, _)| *role == name.role).map(|(_, permits)| *permits)
}

/// Returns the privileges of a built-in role; `None` if the name is not built in.
pub(crate) fn privileges_of(name: &RoleName) -> Option<Privileges> {
    let permits = find(name)?;
    let mut builder = sets::PrivilegeBuilder::default();
    permits(&mut builder, &name.database);
    Some(builder.finish())
}

/// Returns whether a built-in role has this name. No user-defined role can have such a name.
pub(crate) fn is_builtin(name: &RoleName) -> bool {
    find(name).is_some()
}

/// Returns the built-in roles of a database, in the order of their names.
pub(crate) fn names_for(database: &str) -> Vec<RoleName> {
    let mut names: Vec<_> =
        tables(database).map(|(role, _)| RoleName::new(role, database)).collect();
    names.sort();
    names
}

/// Returns a built-in role in the form of a user-defined one. It includes no other roles, only its
/// own privileges.
pub(crate) fn role(name: &RoleName) -> Option<Role> {
    let privileges = privileges_of(name)?;
    Some(Role { name: name.clone(), privileges, roles: Vec::new() })
}

#[cfg(test)]
mod tests;
