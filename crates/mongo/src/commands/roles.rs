//! Commands that create, change, show and drop roles. Built-in roles are shown and cannot be
//! changed. Changes of a role take effect at once for all its users.
//!
//! ```text
//! {createRole: "r", privileges: [{resource: {db: "x", collection: ""}, actions: ["find"]}], roles: []}
//! {updateRole: "r", privileges: [..], roles: [..]}
//! {grantPrivilegesToRole: "r", privileges: [..]}    {revokePrivilegesFromRole: "r", privileges: [..]}
//! {grantRolesToRole: "r", roles: [..]}              {revokeRolesFromRole: "r", roles: [..]}
//! {dropRole: "r"}    {dropAllRolesFromDatabase: 1}
//! {rolesInfo: 1 | "r" | {role: "r", db: "x"} | [..], showPrivileges: true, showBuiltinRoles: true}
//! => {roles: [..], ok: 1}
//! ```

use std::collections::HashSet;

use document::{ArrayRef, DocBuf, Value, ValueRef, doc};

use super::{
    grants::{need_elements, or_on_own_database, role_needs},
    users::check_roles,
};
use crate::{
    access::{Action, Inherited, Privileges, Role, RoleName, builtin, would_cycle},
    authorize::{check_requirements, check_users},
    call::Call,
    errors::{
        BadValue, CommandNotSupported, Error, InvalidRoleModification, ROLE_EXISTS, Result,
        RoleNotFound,
    },
    replies::{numbers::saturated_int, ok},
    rights::{CommandRequest, Requirement},
    users::Versioned,
};

/// Arguments that `createRole` and `updateRole` accept.
pub(super) const CREATE_FIELDS: &[&str] = &["privileges", "roles", "authenticationRestrictions"];
pub(super) const INFO_FIELDS: &[&str] =
    &["showPrivileges", "showBuiltinRoles", "showAuthenticationRestrictions"];

/// Returns the role that a command names in its first field, in the command's database.
fn named(request: &CommandRequest<'_>) -> Result<RoleName> {
    Ok(RoleName::new(request.first_text()?, request.database))
}

/// Returns the rights for granting or revoking privileges: the action on the database of each
/// privilege's resource, and on `admin` if a resource covers all databases or the server.
fn privilege_needs(action: Action, privileges: Option<ArrayRef<'_>>) -> Result<Vec<Requirement>> {
    let Some(privileges) = privileges else { return Ok(Vec::new()) };
    let mut needs = Vec::new();
    for privilege in Privileges::parse(privileges)?.iter() {
        let database = privilege.resource.database().filter(|name| !name.is_empty());
        let need = Requirement::on_database(action, database.unwrap_or("admin"));
        if !needs.contains(&need) {
            needs.push(need);
        }
    }
    Ok(needs)
}

/// Returns the rights that the roles and privileges listed in a command require.
fn listed_needs(request: &CommandRequest<'_>, action: Action) -> Result<Vec<Requirement>> {
    let args = request.args();
    let mut needs = privilege_needs(action, args.array("privileges")?)?;
    if let Some(roles) = args.array("roles")? {
        needs.extend(role_needs(action, &RoleName::parse_list(roles, request.database)?));
    }
    Ok(needs)
}

/// Returns the rights that `createRole` requires.
pub(super) fn create_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut needs = listed_needs(request, Action::GrantRole)?;
    needs.push(Requirement::on_database(Action::CreateRole, request.database));
    Ok(needs)
}

/// Returns the rights that `updateRole` requires: to revoke the role's present privileges and
/// inherited roles, and to grant the new ones.
pub(super) fn update_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut needs = listed_needs(request, Action::GrantRole)?;
    needs.push(Requirement::on_database(Action::RevokeRole, request.database));
    Ok(needs)
}

/// Returns the rights for the commands that extend a role.
pub(super) fn grant_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let needs = listed_needs(request, Action::GrantRole)?;
    Ok(or_on_own_database(needs, Action::GrantRole, request))
}

/// Returns the rights for the commands that reduce a role.
pub(super) fn revoke_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let needs = listed_needs(request, Action::RevokeRole)?;
    Ok(or_on_own_database(needs, Action::RevokeRole, request))
}

fn no_role(name: &RoleName) -> Error {
    Error::new(RoleNotFound, format!("Role '{name}' not found"))
}

/// Checks that a role has no authentication restrictions, which only users have here.
fn check_unrestricted(request: &CommandRequest<'_>) -> Result<()> {
    match request.args().array("authenticationRestrictions")? {
        Some(list) if list.iter().next().is_some() => {
            let text = "authenticationRestrictions of roles are not supported; users may have them";
            Err(Error::new(CommandNotSupported, text))
        }
        _ => Ok(()),
    }
}

/// Checks that a role may have its privileges and roles, and does not inherit from itself.
fn check_role(call: &Call<'_>, role: &Role) -> Result<()> {
    role.check_scope()?;
    check_roles(call, &role.roles)?;
    let kept = |name: &RoleName| call.api.users.role(name).ok().flatten().map(|kept| kept.value);
    if would_cycle(&role.name, &role.roles, kept) {
        let text = format!("Granting these roles to {} would make it include itself", role.name);
        return Err(Error::new(InvalidRoleModification, text));
    }
    Ok(())
}

/// Returns the role that a command changes; fails with error 49 for a built-in role.
fn changeable(call: &Call<'_>, name: &RoleName) -> Result<Versioned<Role>> {
    if builtin::is_builtin(name) {
        let text = format!("{name} is a built-in role and cannot be modified.");
        return Err(Error::new(InvalidRoleModification, text));
    }
    call.api.users.role(name)?.ok_or_else(|| no_role(name))
}

/// Runs `createRole`.
///
/// Fails with 51002 if the role exists, 31 if an inherited role is unknown, and 49 if a role of
/// this database may not have the privileges or roles.
pub(super) async fn create_role(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let request = call.request()?;
    let args = request.args();
    check_unrestricted(&request)?;
    let role = Role {
        name: named(&request)?,
        privileges: Privileges::parse(args.need_array("privileges")?)?,
        roles: RoleName::parse_list(args.need_array("roles")?, call.database)?,
    };
    role.name.check()?;
    if role.name.database == "local" {
        return Err(Error::new(BadValue, "Cannot create roles in the local database"));
    }
    if builtin::is_builtin(&role.name) {
        let text = "Cannot create roles with the same name as a built-in role";
        return Err(Error::new(BadValue, text));
    }
    let _one = call.api.users.lock().await;
    if call.api.users.role(&role.name)?.is_some() {
        return Err(Error::new(ROLE_EXISTS, format!("Role \"{}\" already exists", role.name)));
    }
    check_role(call, &role)?;
    call.api.users.put_role(&role, None).await?;
    ok(doc! {})
}

/// Changes the role that a command names. `listed` is the argument whose list must not be empty;
/// `None` if there is no such argument.
async fn change_role<'a>(
    call: &Call<'a>,
    listed: Option<&str>,
    change: impl FnOnce(&mut Role, &CommandRequest<'a>) -> Result<()>,
) -> Result<DocBuf> {
    check_users(call)?;
    let request = call.request()?;
    let name = named(&request)?;
    // Checked before the role is looked up, as in MongoDB.
    listed.map(|field| need_elements(&request, field)).transpose()?;
    let _one = call.api.users.lock().await;
    let Versioned { value: mut role, version } = changeable(call, &name)?;
    change(&mut role, &request)?;
    check_role(call, &role)?;
    call.api.users.put_role(&role, Some(version)).await?;
    ok(doc! {})
}

/// Runs `updateRole`: the given lists replace the lists of the role.
pub(super) async fn update_role(call: &Call<'_>) -> Result<DocBuf> {
    change_role(call, None, |role, request| {
        check_unrestricted(request)?;
        let args = request.args();
        let (privileges, roles) = (args.array("privileges")?, args.array("roles")?);
        if privileges.is_none() && roles.is_none() {
            let text = "Must specify at least one field to update in updateRole";
            return Err(Error::new(BadValue, text));
        }
        if let Some(privileges) = privileges {
            let gone = privilege_needs(Action::RevokeRole, Some(privileges))?;
            check_requirements(call, &gone)?;
            role.privileges = Privileges::parse(privileges)?;
        }
        if let Some(roles) = roles {
            role.roles = RoleName::parse_list(roles, request.database)?;
        }
        Ok(())
    })
    .await
}

pub(super) async fn grant_privileges(call: &Call<'_>) -> Result<DocBuf> {
    change_role(call, Some("privileges"), |role, request| {
        let given = Privileges::parse(request.args().need_array("privileges")?)?;
        role.privileges.add_all(&given)
    })
    .await
}

pub(super) async fn revoke_privileges(call: &Call<'_>) -> Result<DocBuf> {
    change_role(call, Some("privileges"), |role, request| {
        let taken = Privileges::parse(request.args().need_array("privileges")?)?;
        role.privileges.remove_all(&taken);
        Ok(())
    })
    .await
}

pub(super) async fn grant_roles(call: &Call<'_>) -> Result<DocBuf> {
    change_role(call, Some("roles"), |role, request| {
        let given = RoleName::parse_list(request.args().need_array("roles")?, request.database)?;
        let new: Vec<_> = given.into_iter().filter(|it| !role.roles.contains(it)).collect();
        role.roles.extend(new);
        Ok(())
    })
    .await
}

pub(super) async fn revoke_roles(call: &Call<'_>) -> Result<DocBuf> {
    change_role(call, Some("roles"), |role, request| {
        let taken = RoleName::parse_list(request.args().need_array("roles")?, request.database)?;
        role.roles.retain(|it| !taken.contains(it));
        Ok(())
    })
    .await
}

/// Returns the rights that `dropRole` and `dropAllRolesFromDatabase` require.
pub(super) fn drop_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    Ok(vec![Requirement::on_database(Action::DropRole, request.database)])
}

/// Runs `dropRole`, which also revokes the role everywhere. Fails with 31 if it does not exist.
pub(super) async fn drop_role(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let name = named(&call.request()?)?;
    let _one = call.api.users.lock().await;
    changeable(call, &name)?;
    call.api.users.remove_roles(&HashSet::from([name])).await?;
    ok(doc! {})
}

/// Runs `dropAllRolesFromDatabase`; the reply has the number of dropped roles.
pub(super) async fn drop_all_roles(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let _one = call.api.users.lock().await;
    let roles = call.api.users.roles(Some(call.database))?;
    let gone: HashSet<_> = roles.into_iter().map(|role| role.value.name).collect();
    call.api.users.remove_roles(&gone).await?;
    ok(doc! { "n": saturated_int(gone.len()) })
}

/// Returns the roles that `rolesInfo` names; `None` means all roles of its database.
fn wanted(request: &CommandRequest<'_>) -> Result<Option<Vec<RoleName>>> {
    Ok(match request.body.iter().next().map_or(ValueRef::Null, |(_, value)| value) {
        value if value.is_number() => None,
        ValueRef::Array(list) => Some(RoleName::parse_list(list, request.database)?),
        value => Some(vec![RoleName::parse(value, request.database)?]),
    })
}

/// Returns the rights that `rolesInfo` requires. Named roles are checked in [`roles_info`], since a
/// sender may see the roles that it has.
pub(super) fn info_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let own = wanted(request)?.is_some();
    Ok(if own {
        Vec::new()
    } else {
        vec![Requirement::on_database(Action::ViewRole, request.database)]
    })
}

pub(super) async fn roles_info(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let request = call.request()?;
    let args = request.args();
    let privileges = args.bool("showPrivileges")?.unwrap_or(false);
    let builtins = args.bool("showBuiltinRoles")?.unwrap_or(false);
    let users = &call.api.users;
    let found: Vec<Role> = match wanted(&request)? {
        None => {
            let own = users.roles(Some(call.database))?.into_iter().map(|kept| kept.value);
            let names = builtin::names_for(call.database).into_iter().filter(|_| builtins);
            own.chain(names.filter_map(|name| builtin::role(&name))).collect()
        }
        Some(names) => {
            let login = call.api.login_of(call.connection);
            let is_own =
                |name: &&RoleName| login.as_ref().is_some_and(|login| login.roles.contains(name));
            let others = names.iter().filter(|name| !is_own(name));
            let needs =
                others.map(|name| Requirement::on_database(Action::ViewRole, &name.database));
            check_requirements(call, &needs.collect::<Vec<_>>())?;
            let mut found = Vec::new();
            for name in &names {
                let made = users.role(name)?.map(|kept| kept.value);
                found.extend(builtin::role(name).or(made));
            }
            found
        }
    };
    let shown = found.iter().map(|role| {
        let (roles, mut granted) = users.expand(&role.roles);
        // Privileges beyond the limit are neither shown nor granted.
        let _ = granted.add_all(&role.privileges);
        let inherited = Inherited { roles: &roles, privileges: &granted };
        Value::Document(role.shown(privileges, inherited))
    });
    ok(doc! { "roles": Value::Array(shown.collect()) })
}
