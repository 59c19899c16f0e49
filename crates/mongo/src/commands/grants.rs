//! Code shared by the commands that grant and revoke roles and privileges: the rights that they
//! require, and their lists, which must not be empty.

use document::ArrayRef;

use crate::{
    access::{Action, RoleName},
    errors::{BadValue, Error, Result},
    rights::{CommandRequest, Requirement},
};

/// Returns the rights that granting or revoking roles requires: the action on the database of each
/// role. Returns none for an empty list, so that the caller has to require something else.
pub(super) fn role_needs(action: Action, roles: &[RoleName]) -> Vec<Requirement> {
    let mut needs: Vec<Requirement> = Vec::new();
    for role in roles {
        let need = Requirement::on_database(action, &role.database);
        if !needs.contains(&need) {
            needs.push(need);
        }
    }
    needs
}

/// Returns `needs` or, if there are none, the right to the action on the command's own database.
/// Otherwise a command with an empty list would require no right.
pub(super) fn or_on_own_database(
    needs: Vec<Requirement>,
    action: Action,
    request: &CommandRequest<'_>,
) -> Vec<Requirement> {
    if needs.is_empty() { vec![Requirement::on_database(action, request.database)] } else { needs }
}

/// Returns the list in a field. Fails with 2 if it is empty, as in MongoDB.
pub(super) fn need_elements<'a>(request: &CommandRequest<'a>, field: &str) -> Result<ArrayRef<'a>> {
    let list = request.args().need_array(field)?;
    if list.iter().next().is_none() {
        let text = format!("{} command requires a non-empty \"{field}\" array", request.name);
        return Err(Error::new(BadValue, text));
    }
    Ok(list)
}
