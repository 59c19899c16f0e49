//! Commands that create, change, show and drop users. The rights they require are in their rows;
//! granting a role requires the right to grant on the role's own database.
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
use engine::Store;

use super::grants::{need_elements, or_on_own_database, role_needs};
use crate::{
    access::{Action, Inherited, Restriction, RoleName, User, UserName, UserView},
    authorize::{check_needs, check_users},
    call::Call,
    errors::{
        BSONObjectTooLarge, BadValue, Error, IllegalOperation, Result, USER_EXISTS, UserNotFound,
    },
    limits::MAX_DOCUMENT_BYTES,
    passwords::{NewPassword, new_credentials},
    replies::{numbers::saturated_int, ok},
    rights::{Asked, Need, Object, is_set},
    users::{Kept, new_user_id},
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
fn named(asked: &Asked<'_>) -> Result<UserName> {
    Ok(UserName::new(asked.first_text()?, asked.database))
}

/// Returns the roles that a command lists.
fn listed_roles(asked: &Asked<'_>) -> Result<Option<Vec<RoleName>>> {
    let roles = asked.args().array("roles")?;
    roles.map(|roles| RoleName::parse_list(roles, asked.database)).transpose()
}

/// Returns the rights that `createUser` requires.
pub(super) fn create_needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    let mut needs = vec![Need::on_database(Action::CreateUser, asked.database)];
    needs.extend(role_needs(Action::GrantRole, &listed_roles(asked)?.unwrap_or_default()));
    if asked.args().get("authenticationRestrictions").is_some() {
        needs.push(Need::on_database(Action::SetAuthenticationRestriction, asked.database));
    }
    Ok(needs)
}

/// Returns the rights that `updateUser` requires. The sender's own password and data need other
/// rights, which [`update_user`] checks.
pub(super) fn update_needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    let mut needs = Vec::new();
    if let Some(roles) = listed_roles(asked)? {
        // The user's current roles are revoked. `update_user` checks the databases of those that
        // are not granted again; this right is always required, even for a user without roles.
        needs.push(Need::on_database(Action::RevokeRole, asked.database));
        needs.extend(role_needs(Action::GrantRole, &roles));
    }
    if asked.args().get("authenticationRestrictions").is_some() {
        needs.push(Need::on_database(Action::SetAuthenticationRestriction, asked.database));
    }
    Ok(needs)
}

/// Returns the rights that `dropUser` and `dropAllUsersFromDatabase` require.
pub(super) fn drop_needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    Ok(vec![Need::on_database(Action::DropUser, asked.database)])
}

/// Returns the rights that `grantRolesToUser` requires.
pub(super) fn grant_needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    let needs = role_needs(Action::GrantRole, &listed_roles(asked)?.unwrap_or_default());
    Ok(or_on_own_database(needs, Action::GrantRole, asked))
}

/// Returns the rights that `revokeRolesFromUser` requires.
pub(super) fn revoke_needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    let needs = role_needs(Action::RevokeRole, &listed_roles(asked)?.unwrap_or_default());
    Ok(or_on_own_database(needs, Action::RevokeRole, asked))
}

fn no_user(name: &UserName) -> Error {
    Error::new(UserNotFound, format!("User '{name}' not found"))
}

/// Checks that all roles exist.
pub(super) fn check_roles<S: Store>(call: &Call<'_, S>, roles: &[RoleName]) -> Result<()> {
    for role in roles {
        if !call.door.users.has_role(role)? {
            let text = format!("Could not find role: {role}");
            return Err(Error::new(crate::errors::RoleNotFound, text));
        }
    }
    Ok(())
}

fn restrictions(asked: &Asked<'_>) -> Result<Option<Vec<Restriction>>> {
    let list = asked.args().array("authenticationRestrictions")?;
    list.map(Restriction::parse_list).transpose()
}

/// Runs `createUser`.
///
/// Fails with 51003 if the user exists, 31 for an unknown role, and 2 if the password is missing or
/// invalid.
pub(super) async fn create_user<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    check_users(call)?;
    let asked = call.asked()?;
    let name = named(&asked)?;
    name.check()?;
    if name.database == "local" {
        return Err(Error::new(BadValue, "Cannot create users in the local database"));
    }
    let args = asked.args();
    let roles = RoleName::parse_list(args.need_array("roles")?, call.database)?;
    let restrictions = restrictions(&asked)?.unwrap_or_default();
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
    let _one = call.door.users.lock().await;
    check_roles(call, &roles)?;
    if call.door.users.user(&name)?.is_some() {
        let text = format!("User \"{name}\" already exists");
        return Err(Error::new(USER_EXISTS, text));
    }
    let id = new_user_id()?;
    let user = User { name, id, roles, custom_data, credentials, restrictions };
    call.door.users.put_user(&user, None).await?;
    ok(doc! {})
}

/// Checks that the sender may change the password or data: of any user of the database, or, with a
/// lesser right, of itself.
fn check_change<S: Store>(
    call: &Call<'_, S>,
    name: &UserName,
    any: Action,
    own: Action,
) -> Result<()> {
    let is_own = call.connection.sender().user.as_ref() == Some(name);
    let on = Object::Database(name.database.clone());
    let actions = if is_own { vec![any, own] } else { vec![any] };
    check_needs(call, &[Need::one_of(&actions, on)])
}

/// Runs `updateUser`: the given fields replace the fields of the user.
pub(super) async fn update_user<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    check_users(call)?;
    let asked = call.asked()?;
    let name = named(&asked)?;
    let args = asked.args();
    let roles = listed_roles(&asked)?;
    let restrictions = restrictions(&asked)?;
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
    let _one = call.door.users.lock().await;
    let Some(Kept { value: mut user, version }) = call.door.users.user(&name)? else {
        return Err(no_user(&name));
    };
    if let Some(roles) = roles {
        check_roles(call, &roles)?;
        // Revoked roles may belong to other databases.
        let gone: Vec<_> = user.roles.iter().filter(|it| !roles.contains(it)).cloned().collect();
        check_needs(call, &role_needs(Action::RevokeRole, &gone))?;
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
    call.door.users.put_user(&user, Some(version)).await?;
    ok(doc! {})
}

/// Runs `dropUser`; fails with 11 if the user does not exist.
pub(super) async fn drop_user<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    check_users(call)?;
    let name = named(&call.asked()?)?;
    let _one = call.door.users.lock().await;
    if call.door.users.remove_user(&name).await? { ok(doc! {}) } else { Err(no_user(&name)) }
}

/// Runs `dropAllUsersFromDatabase`; the reply has the number of dropped users.
pub(super) async fn drop_all_users<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    check_users(call)?;
    let _one = call.door.users.lock().await;
    let removed = call.door.users.remove_users(call.database).await?;
    ok(doc! { "n": saturated_int(removed) })
}

/// Runs `grantRolesToUser`.
pub(super) async fn grant_roles<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    change_roles(call, |held, roles| {
        let new: Vec<_> = roles.into_iter().filter(|role| !held.contains(role)).collect();
        held.extend(new);
    })
    .await
}

/// Runs `revokeRolesFromUser`.
pub(super) async fn revoke_roles<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    change_roles(call, |held, roles| held.retain(|role| !roles.contains(role))).await
}

/// Changes the roles of a user; the named roles must exist.
async fn change_roles<S: Store>(
    call: &Call<'_, S>,
    change: impl Fn(&mut Vec<RoleName>, Vec<RoleName>),
) -> Result<DocBuf> {
    check_users(call)?;
    let asked = call.asked()?;
    let name = named(&asked)?;
    let roles = RoleName::parse_list(need_elements(&asked, "roles")?, call.database)?;
    let _one = call.door.users.lock().await;
    let Some(Kept { value: mut user, version }) = call.door.users.user(&name)? else {
        return Err(no_user(&name));
    };
    check_roles(call, &roles)?;
    change(&mut user.roles, roles);
    call.door.users.put_user(&user, Some(version)).await?;
    ok(doc! {})
}

/// The users that `usersInfo` selects.
enum Wanted {
    All,
    OfDatabase,
    Named(Vec<UserName>),
}

fn wanted(asked: &Asked<'_>) -> Result<Wanted> {
    Ok(match asked.body.iter().next().map_or(ValueRef::Null, |(_, value)| value) {
        value if value.is_number() => Wanted::OfDatabase,
        ValueRef::Document(all) if is_set(all, "forAllDBs") => Wanted::All,
        ValueRef::Array(list) => {
            let names = UserName::parse_list(list, asked.database)?;
            if names.is_empty() {
                let text = "usersInfo takes a user, a list of at least one user, or 1";
                return Err(Error::new(BadValue, text));
            }
            Wanted::Named(names)
        }
        value => Wanted::Named(vec![UserName::parse(value, asked.database)?]),
    })
}

/// Returns the rights that `usersInfo` requires. Named users are checked in [`users_info`], since
/// every user may see itself.
pub(super) fn info_needs(asked: &Asked<'_>) -> Result<Vec<Need>> {
    Ok(match wanted(asked)? {
        Wanted::All => vec![Need::Any(vec![
            Need::of(Action::ViewUser, Object::Server),
            Need::on_database(Action::ViewUser, ""),
        ])],
        Wanted::OfDatabase => vec![Need::on_database(Action::ViewUser, asked.database)],
        Wanted::Named(_) => Vec::new(),
    })
}

/// Returns whether `usersInfo` shows password verifiers. This counts as a change, so that read-only
/// senders are refused.
pub(super) fn shows_credentials(command: DocRef<'_>) -> bool {
    is_set(command, "showCredentials")
}

/// Runs `usersInfo`.
pub(super) async fn users_info<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    check_users(call)?;
    let asked = call.asked()?;
    let args = asked.args();
    let credentials = args.bool("showCredentials")?.unwrap_or(false);
    let privileges = args.bool("showPrivileges")?.unwrap_or(false);
    let custom = args.bool("showCustomData")?.unwrap_or(true);
    let restrictions = args.bool("showAuthenticationRestrictions")?.unwrap_or(false);
    let filter = args.document("filter")?.map(mongo_query::filter::parse).transpose()?;
    let users = &call.door.users;
    let wanted = wanted(&asked)?;
    if (privileges || restrictions) && !matches!(wanted, Wanted::Named(_)) {
        let text = "Privilege or restriction details require exact-match usersInfo queries";
        return Err(Error::new(IllegalOperation, text));
    }
    let found: Vec<User> = match wanted {
        Wanted::All => users.users(None)?.into_iter().map(|kept| kept.value).collect(),
        Wanted::OfDatabase => {
            users.users(Some(call.database))?.into_iter().map(|kept| kept.value).collect()
        }
        Wanted::Named(names) => {
            let own = call.connection.sender().user;
            let others = names.iter().filter(|name| own.as_ref() != Some(*name));
            let needs = others.map(|name| Need::on_database(Action::ViewUser, &name.database));
            check_needs(call, &needs.collect::<Vec<_>>())?;
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
pub(super) async fn invalidate<S: Store>(_: &Call<'_, S>) -> Result<DocBuf> {
    ok(doc! {})
}
