//! MongoDB's built-in roles, as its manual describes them: one table, by name. Roles that clients
//! create are in `role`; which roles a user has, in `roles_of`.
//!
//! The sets are limited to what can exist here. There are no system collections but `system.js`;
//! `system.users`, `system.roles`, `system.views`, `system.profile` and `system.replset` are in the
//! sets all the same, since tools look at what a role may do before they begin. `__system` is not
//! offered.
//!
//! What is this server's own: `ebbClock` goes with `hostManager`, `clusterAdmin` and `root`, as
//! does `configureFailPoint`; `ebbExpiry` goes wherever `read` goes. `root` may do everything on
//! the cluster, and owns `config` and `local` too, which MongoDB gives it in parts.

mod sets;

use super::{privilege::Privileges, role::Role, role_name::RoleName};

/// The database of the roles that are about all databases.
const ADMIN: &str = "admin";

/// What a role permits; the argument is its database.
type Permits = fn(&mut sets::Maker, &str);

/// Roles that every database has, by name.
const EVERYWHERE: &[(&str, Permits)] = &[
    ("dbAdmin", sets::db_admin),
    ("dbOwner", sets::db_owner),
    ("read", sets::read),
    ("readWrite", sets::read_write),
    ("userAdmin", sets::user_admin),
];

/// Roles that only `admin` has, by name.
const ON_ADMIN: &[(&str, Permits)] = &[
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

/// The tables that a database has. There are no roles in `$external`, where only users are.
fn tables(database: &str) -> impl Iterator<Item = &'static (&'static str, Permits)> {
    let everywhere = if database == "$external" { &[] } else { EVERYWHERE };
    let on_admin = if database == ADMIN { ON_ADMIN } else { &[] };
    everywhere.iter().chain(on_admin)
}

fn find(name: &RoleName) -> Option<Permits> {
    tables(&name.database).find(|(role, _)| *role == name.role).map(|(_, permits)| *permits)
}

/// What a built-in role permits; `None` if no built-in role has the name.
pub(crate) fn privileges_of(name: &RoleName) -> Option<Privileges> {
    let permits = find(name)?;
    let mut maker = sets::Maker::default();
    permits(&mut maker, &name.database);
    Some(maker.finish())
}

/// Whether a built-in role has the name. No other role can get it.
pub(crate) fn is_builtin(name: &RoleName) -> bool {
    find(name).is_some()
}

/// The built-in roles of a database, in the order of their names.
pub(crate) fn names_for(database: &str) -> Vec<RoleName> {
    let mut names: Vec<_> =
        tables(database).map(|(role, _)| RoleName::new(role, database)).collect();
    names.sort();
    names
}

/// A built-in role in the form of one that clients create. It has no other roles: what it permits,
/// it permits itself.
pub(crate) fn role(name: &RoleName) -> Option<Role> {
    let privileges = privileges_of(name)?;
    Some(Role { name: name.clone(), privileges, roles: Vec::new() })
}

#[cfg(test)]
mod tests;
