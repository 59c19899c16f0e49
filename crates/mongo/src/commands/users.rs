//! Commands that create, change, show and drop users. The rights that they require are listed in
//! the command table; granting a role requires the right to grant on the role's own database.
//!
//! ```text
//! {createUser: "ann", pwd: "..", roles: ["readWrite", {role: "read", db: "other"}]}    => {ok: 1}
//! {updateUser: "ann", pwd: "..", customData: {..}}                                     => {ok: 1}
//! {grantRolesToUser: "ann", roles: [..]}    {revokeRolesFromUser: "ann", roles: [..]}  => {ok: 1}
//! {dropUser: "ann"}    {dropAllUsersFromDatabase: 1}                                   => {ok: 1, n: 1}
//! {usersInfo: 1 | "ann" | {user: "ann", db: "x"} | [..] | {forAllDBs: true}}           => {users: [..]}
//! ```
//!
//! Dropping a user ends its logins at once; changes of its rights apply at once to existing logins.

use document::{DocBuf, DocRef, Document, Value, ValueRef, doc};

use super::grants::{need_elements, or_on_own_database, role_needs};
use crate::{
    access::{Action, Inherited, Restriction, RoleName, User, UserName, UserView},
    authorize::{check_requirements, check_users},
    call::Call,
    errors::{
        BSONObjectTooLarge, BadValue, Error, IllegalOperation, Result, USER_EXISTS, UserNotFound,
    },
    limits::MAX_DOCUMENT_BYTES,
    passwords::{NewPassword, new_credentials},
    replies::{numbers::saturated_int, ok},
    rights::{CommandRequest, Object, Requirement, is_set},
    users::{Versioned, new_user_id},
};

pub(super) const CREATE_FIELDS: &[&str] =
    &["pwd", "customData", "roles", "digestPassword", "authenticationRestrictions", "mechanisms"];
pub(super) const UPDATE_FIELDS: &[&str] = CREATE_FIELDS;
pub(super) const INFO_FIELDS: &[&str] = &[
    "showCredentials",
    "showCustomData",
    "showPrivileges",
    "showAuthenticationRestrictions",
    "filter",
];

/// Returns the user that a command names in its first field, in the command's database.
fn named(request: &CommandRequest<'_>) -> Result<UserName> {
    Ok(UserName::new(request.first_text()?, request.database))
}

/// Returns the roles that a command lists.
fn listed_roles(request: &CommandRequest<'_>) -> Result<Option<Vec<RoleName>>> {
    let roles = request.args().array("roles")?;
    roles.map(|roles| RoleName::parse_list(roles, request.database)).transpose()
}

/// Returns the rights that `createUser` requires.
pub(super) fn create_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut needs = vec![Requirement::on_database(Action::CreateUser, request.database)];
    needs.extend(role_needs(Action::GrantRole, &listed_roles(request)?.unwrap_or_default()));
    if request.args().get("authenticationRestrictions").is_some() {
        needs
            .push(Requirement::on_database(Action::SetAuthenticationRestriction, request.database));
    }
    Ok(needs)
}

/// Returns the rights that `updateUser` requires. The sender's own password and data need other
/// rights, which [`update_user`] checks.
pub(super) fn update_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut needs = Vec::new();
    if let Some(roles) = listed_roles(request)? {
        // The user's current roles are revoked. `update_user` checks the databases of roles that
        // are not granted again; this right is always required, even for a user without roles.
        needs.push(Requirement::on_database(Action::RevokeRole, request.database));
        needs.extend(role_needs(Action::GrantRole, &roles));
    }
    if request.args().get("authenticationRestrictions").is_some() {
        needs
            .push(Requirement::on_database(Action::SetAuthenticationRestriction, request.database));
    }
    Ok(needs)
}

/// Returns the rights that `dropUser` and `dropAllUsersFromDatabase` require.
pub(super) fn drop_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    Ok(vec![Requirement::on_database(Action::DropUser, request.database)])
}

/// Returns the rights that `grantRolesToUser` requires.
pub(super) fn grant_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let needs = role_needs(Action::GrantRole, &listed_roles(request)?.unwrap_or_default());
    Ok(or_on_own_database(needs, Action::GrantRole, request))
}

/// Returns the rights that `revokeRolesFromUser` requires.
pub(super) fn revoke_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let needs = role_needs(Action::RevokeRole, &listed_roles(request)?.unwrap_or_default());
    Ok(or_on_own_database(needs, Action::RevokeRole, request))
}

fn no_user(name: &UserName) -> Error {
    Error::new(UserNotFound, format!("User '{name}' not found"))
}

/// Checks that all roles exist.
pub(super) fn check_roles(call: &Call<'_>, roles: &[RoleName]) -> Result<()> {
    for role in roles {
        if !call.api.users.has_role(role)? {
            let text = format!("Could not find role: {role}");
            return Err(Error::new(crate::errors::RoleNotFound, text));
        }
    }
    Ok(())
}

fn restrictions(request: &CommandRequest<'_>) -> Result<Option<Vec<Restriction>>> {
    let list = request.args().array("authenticationRestrictions")?;
    list.map(Restriction::parse_list).transpose()
}

/// Runs `createUser`.
///
/// Fails with 51003 if the user exists, 31 if a role is unknown, and 2 if the password is missing
/// or invalid.
pub(super) async fn create_user(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let request = call.request()?;
    let name = named(&request)?;
    name.check()?;
    if name.database == "local" {
        return Err(Error::new(BadValue, "Cannot create users in the local database"));
    }
    let args = request.args();
    let roles = RoleName::parse_list(args.need_array("roles")?, call.database)?;
    let restrictions = restrictions(&request)?.unwrap_or_default();
    let custom_data = args.document("customData")?.map(|data| data.to_buf());
    let password = NewPassword::parse(&args, &name)?;
    let credentials = match password {
        Some(password) => new_credentials(password).await?,
        None if name.database == "$external" => Default::default(),
        None => {
            let text = "Must provide a 'pwd' field for all user documents, except those with \
                        '$external' as the user's source db";
            return Err(Error::new(BadValue, text));
        }
    };
    let _one = call.api.users.lock().await;
    check_roles(call, &roles)?;
    if call.api.users.user(&name)?.is_some() {
        let text = format!("User \"{name}\" already exists");
        return Err(Error::new(USER_EXISTS, text));
    }
    let id = new_user_id()?;
    let user = User { name, id, roles, custom_data, credentials, restrictions };
    call.api.users.put_user(&user, None).await?;
    ok(doc! {})
}

/// Checks that the sender may change the password or data: of any user of the database, or, with a
/// lesser right, of itself.
fn check_change(call: &Call<'_>, name: &UserName, any: Action, own: Action) -> Result<()> {
    let is_own = call.connection.sender().user.as_ref() == Some(name);
    let on = Object::Database(name.database.clone());
    let actions = if is_own { vec![any, own] } else { vec![any] };
    check_requirements(call, &[Requirement::one_of(&actions, on)])
}

/// Runs `updateUser`: the given fields replace the fields of the user.
pub(super) async fn update_user(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let request = call.request()?;
    let name = named(&request)?;
    let args = request.args();
    let roles = listed_roles(&request)?;
    let restrictions = restrictions(&request)?;
    let custom_data = args.document("customData")?.map(|data| data.to_buf());
    let password = NewPassword::parse(&args, &name)?;
    let mechanisms = args.array("mechanisms")?.is_some();
    if password.is_some() || mechanisms {
        check_change(call, &name, Action::ChangePassword, Action::ChangeOwnPassword)?;
    }
    if custom_data.is_some() {
        check_change(call, &name, Action::ChangeCustomData, Action::ChangeOwnCustomData)?;
    }
    let changes = roles.is_some() || restrictions.is_some() || custom_data.is_some();
    if !changes && password.is_none() && !mechanisms {
        let text = "Must specify at least one field to update in updateUser";
        return Err(Error::new(BadValue, text));
    }
    let credentials = match password {
        Some(password) => Some(new_credentials(password).await?),
        None => None,
    };
    let _one = call.api.users.lock().await;
    let Some(Versioned { value: mut user, version }) = call.api.users.user(&name)? else {
        return Err(no_user(&name));
    };
    if let Some(roles) = roles {
        check_roles(call, &roles)?;
        // The right to revoke is required on the database of each revoked role.
        let gone: Vec<_> = user.roles.iter().filter(|it| !roles.contains(it)).cloned().collect();
        check_requirements(call, &role_needs(Action::RevokeRole, &gone))?;
        user.roles = roles;
    }
    match credentials {
        Some(credentials) => user.credentials = credentials,
        None if mechanisms => {
            let kept = NewPassword::mechanisms(&args)?;
            let names: Vec<_> = kept.iter().map(|mechanism| mechanism.name()).collect();
            user.credentials.keep_only(&names)?;
        }
        None => {}
    }
    if let Some(restrictions) = restrictions {
        user.restrictions = restrictions;
    }
    if let Some(data) = custom_data {
        user.custom_data = Some(data);
    }
    call.api.users.put_user(&user, Some(version)).await?;
    ok(doc! {})
}

/// Runs `dropUser`; fails with 11 if the user does not exist.
pub(super) async fn drop_user(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let name = named(&call.request()?)?;
    let _one = call.api.users.lock().await;
    if call.api.users.remove_user(&name).await? { ok(doc! {}) } else { Err(no_user(&name)) }
}

/// Runs `dropAllUsersFromDatabase`; the reply has the number of dropped users.
pub(super) async fn drop_all_users(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let _one = call.api.users.lock().await;
    let removed = call.api.users.remove_users(call.database).await?;
    ok(doc! { "n": saturated_int(removed) })
}

pub(super) async fn grant_roles(call: &Call<'_>) -> Result<DocBuf> {
    change_roles(call, |held, roles| {
        let new: Vec<_> = roles.into_iter().filter(|role| !held.contains(role)).collect();
        held.extend(new);
    })
    .await
}

pub(super) async fn revoke_roles(call: &Call<'_>) -> Result<DocBuf> {
    change_roles(call, |held, roles| held.retain(|role| !roles.contains(role))).await
}

/// Changes the roles of a user; the named roles must exist.
async fn change_roles(
    call: &Call<'_>,
    change: impl Fn(&mut Vec<RoleName>, Vec<RoleName>),
) -> Result<DocBuf> {
    check_users(call)?;
    let request = call.request()?;
    let name = named(&request)?;
    let roles = RoleName::parse_list(need_elements(&request, "roles")?, call.database)?;
    let _one = call.api.users.lock().await;
    let Some(Versioned { value: mut user, version }) = call.api.users.user(&name)? else {
        return Err(no_user(&name));
    };
    check_roles(call, &roles)?;
    change(&mut user.roles, roles);
    call.api.users.put_user(&user, Some(version)).await?;
    ok(doc! {})
}

/// The users that `usersInfo` selects.
enum UserSelection {
    All,
    OfDatabase,
    Named(Vec<UserName>),
}

fn parse_selection(request: &CommandRequest<'_>) -> Result<UserSelection> {
    Ok(match request.body.iter().next().map_or(ValueRef::Null, |(_, value)| value) {
        value if value.is_number() => UserSelection::OfDatabase,
        ValueRef::Document(all) if is_set(all, "forAllDBs") => UserSelection::All,
        ValueRef::Array(list) => {
            let names = UserName::parse_list(list, request.database)?;
            if names.is_empty() {
                let text = "usersInfo takes a user, a list of at least one user, or 1";
                return Err(Error::new(BadValue, text));
            }
            UserSelection::Named(names)
        }
        value => UserSelection::Named(vec![UserName::parse(value, request.database)?]),
    })
}

/// Returns the rights that `usersInfo` requires. Named users are checked in [`users_info`], since
/// every user may see itself.
pub(super) fn info_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    Ok(match parse_selection(request)? {
        UserSelection::All => vec![Requirement::Any(vec![
            Requirement::of(Action::ViewUser, Object::Server),
            Requirement::on_database(Action::ViewUser, ""),
        ])],
        UserSelection::OfDatabase => {
            vec![Requirement::on_database(Action::ViewUser, request.database)]
        }
        UserSelection::Named(_) => Vec::new(),
    })
}

/// Returns whether `usersInfo` shows password verifiers. This counts as a change, so that read-only
/// senders are refused.
pub(super) fn shows_credentials(command: DocRef<'_>) -> bool {
    is_set(command, "showCredentials")
}

pub(super) async fn users_info(call: &Call<'_>) -> Result<DocBuf> {
    check_users(call)?;
    let request = call.request()?;
    let args = request.args();
    let credentials = args.bool("showCredentials")?.unwrap_or(false);
    let privileges = args.bool("showPrivileges")?.unwrap_or(false);
    let custom = args.bool("showCustomData")?.unwrap_or(true);
    let restrictions = args.bool("showAuthenticationRestrictions")?.unwrap_or(false);
    let filter = args.document("filter")?.map(mongo_query::filter::parse).transpose()?;
    let users = &call.api.users;
    let parse_selection = parse_selection(&request)?;
    if (privileges || restrictions) && !matches!(parse_selection, UserSelection::Named(_)) {
        let text = "Privilege or restriction details require exact-match usersInfo queries";
        return Err(Error::new(IllegalOperation, text));
    }
    let found: Vec<User> = match parse_selection {
        UserSelection::All => users.users(None)?.into_iter().map(|kept| kept.value).collect(),
        UserSelection::OfDatabase => {
            users.users(Some(call.database))?.into_iter().map(|kept| kept.value).collect()
        }
        UserSelection::Named(names) => {
            let own = call.connection.sender().user;
            let others = names.iter().filter(|name| own.as_ref() != Some(*name));
            let needs =
                others.map(|name| Requirement::on_database(Action::ViewUser, &name.database));
            check_requirements(call, &needs.collect::<Vec<_>>())?;
            let mut found = Vec::new();
            for name in &names {
                found.extend(users.user(name)?.map(|kept| kept.value));
            }
            found
        }
    };
    let context = call.evaluation_context().await?;
    let mut shown = Vec::new();
    let mut bytes = 0;
    for user in found {
        let (roles, granted) = users.expand(&user.roles);
        let inherited = Inherited { roles: &roles, privileges: &granted };
        let inherited = privileges.then_some(inherited);
        let view = UserView { credentials, custom_data: custom, restrictions, inherited };
        let entry: Document = user.shown(view);
        let matches = match &filter {
            Some(filter) => filter.matches(DocRef::Tree(&entry), &context)?,
            None => true,
        };
        if matches {
            bytes += entry.to_buf().bytes().len();
            if MAX_DOCUMENT_BYTES < bytes {
                let text = "the users do not fit into one reply: request fewer";
                return Err(Error::new(BSONObjectTooLarge, text));
            }
            shown.push(Value::Document(entry));
        }
    }
    ok(doc! { "users": Value::Array(shown) })
}

/// Runs `invalidateUserCache`, which has no effect: cached rights are never stale.
pub(super) async fn invalidate(_: &Call<'_>) -> Result<DocBuf> {
    ok(doc! {})
}
