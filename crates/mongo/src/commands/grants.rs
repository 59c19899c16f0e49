//! Code shared by the commands that grant and revoke roles and privileges: the rights that they
//! require, and their lists, which must not be empty.

use document::ArrayRef;

use crate::{
    access::{Action, RoleName},
    errors::{BadValue, Error, Result},
    rights::{Asked, Need},
};

/// Returns the rights that granting or revoking roles requires: the action on the database of each
/// role. Returns none for an empty list, so that the caller has to require something else.
pub(super) fn role_needs(action: Action, roles: &[RoleName]) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for role in roles {
        let need = Need::on_database(action, &role.database);
        if !needs.contains(&need) {
            needs.push(need);
        }
    }
    needs
}

/// Returns `needs` or, if there are none, the right to the action on the command's own database.
/// Otherwise a command with an empty list would require no right.
pub(super) fn or_on_own_database(needs: Vec<Need>, action: Action, asked: &Asked<'_>) -> Vec<Need> {
    if needs.is_empty() { vec![Need::on_database(action, asked.database)] } else { needs }
}

/// Returns the list in a field. Fails with 2 if it is empty, as in MongoDB.
pub(super) fn need_elements<'a>(asked: &Asked<'a>, field: &str) -> Result<ArrayRef<'a>> {
    let list = asked.args().need_array(field)?;
    if list.iter().next().is_none() {
        let text = format!("{} command requires a non-empty \"{field}\" array", asked.name);
        return Err(Error::new(BadValue, text));
    }
    Ok(list)
}
