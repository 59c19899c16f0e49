//! The operator's assignments of roles to principals, which authenticate with Entra tokens. A role
//! is a list of Azure Cosmos DB's data actions. `auth` determines the principal of a token.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use auth::Issuer;

use crate::{
    failure::{Failure, Fault, Result},
    operation::{METADATA, Needed, Operation, PREFIX},
    resource_path::ResourcePath,
};

/// The two built-in roles of Azure Cosmos DB with their names, ids and actions.
const BUILT_IN: [(&str, &str, &[&str]); 2] = [
    (
        "reader",
        "00000000-0000-0000-0000-000000000001",
        &[
            METADATA,
            "sqlDatabases/containers/executeQuery",
            "sqlDatabases/containers/readChangeFeed",
            "sqlDatabases/containers/items/read",
        ],
    ),
    (
        "contributor",
        "00000000-0000-0000-0000-000000000002",
        &[METADATA, "sqlDatabases/containers/*", "sqlDatabases/containers/items/*"],
    ),
];

/// Rules for Entra tokens: which tokens are accepted, and the rights of their principals.
#[derive(Debug)]
pub struct TokenRules {
    /// The identity service whose tokens are accepted.
    pub issuer: Option<Issuer>,
    /// Whether tokens signed by an account key, as emulators accept them, are valid. The holder of
    /// a key can put any principal into such a token, so by default such tokens are refused if an
    /// identity service is configured.
    pub emulator_tokens: bool,
    /// The role assignments. With `None`, a token signed by an account key has the rights of that
    /// key.
    pub roles: Option<Roles>,
}

impl Default for TokenRules {
    /// Returns the rules of a server without `--cosmos-roles`: a token must be signed by an account
    /// key, and has the rights of that key.
    fn default() -> Self {
        Self { issuer: None, emulator_tokens: true, roles: None }
    }
}

/// The current rules, which the server may reload while it runs.
pub type CurrentTokenRules = Arc<ArcSwap<TokenRules>>;

/// The role assignments of principals.
#[derive(Debug)]
pub struct Roles(Vec<Assignment>);

#[derive(Debug)]
struct Assignment {
    principal: String,
    actions: Arc<[String]>,
    scope: ResourcePath,
}

impl Roles {
    /// Creates the roles from custom roles, each a name and its actions, and from assignments, each
    /// a principal, the name of a role, and a scope. The error is a message for the operator.
    pub fn new(
        own: &[(String, Vec<String>)],
        assignments: &[(String, String, String)],
    ) -> Result<Self, String> {
        let mut roles: HashMap<&str, Arc<[String]>> = HashMap::new();
        for (name, number, actions) in BUILT_IN {
            let actions: Arc<[String]> = actions.iter().map(|&action| action.to_owned()).collect();
            roles.insert(name, Arc::clone(&actions));
            roles.insert(number, actions);
        }
        for (name, actions) in own {
            let actions = actions.iter().map(|action| parse_action(name, action));
            let actions = actions.collect::<Result<Arc<[String]>, String>>()?;
            if roles.insert(name, actions).is_some() {
                return Err(format!("duplicate role '{name}'"));
            }
        }
        let assignments = assignments.iter().map(|(principal, role, scope)| {
            let actions = roles.get(role.as_str());
            let actions = actions.ok_or_else(|| format!("role '{role}' does not exist"))?;
            let scope = parse_scope(scope)
                .ok_or_else(|| format!("'{scope}' is neither /, /dbs/ID nor /dbs/ID/colls/ID"))?;
            Ok(Assignment { principal: principal.clone(), actions: Arc::clone(actions), scope })
        });
        assignments.collect::<Result<_, String>>().map(Self)
    }

    /// Returns the assignments of a principal.
    fn of<'a>(&'a self, principal: &'a str) -> impl Iterator<Item = &'a Assignment> {
        self.0.iter().filter(move |found| found.principal.eq_ignore_ascii_case(principal))
    }
}

/// Validates an action of a custom role, and returns it without the common prefix.
fn parse_action(role: &str, action: &str) -> Result<String, String> {
    let rest = action.strip_prefix(PREFIX).unwrap_or(action);
    let known = rest == METADATA || rest.starts_with("sqlDatabases/") || rest == "*";
    match known && !rest.trim_end_matches('*').contains('*') {
        true => Ok(rest.to_owned()),
        false => Err(format!(
            "role '{role}' has the invalid action '{action}': an action starts with \
             {PREFIX}readMetadata or {PREFIX}sqlDatabases/ and may have a * only at its end"
        )),
    }
}

/// Parses the scope of an assignment: the account, a database or a container.
fn parse_scope(text: &str) -> Option<ResourcePath> {
    if text == "/" {
        return Some(ResourcePath::account());
    }
    ResourcePath::parse(text).filter(|path| !path.is_in_container())
}

/// Refuses a request about this path unless a role of the token's principal permits it. The path
/// must use names and not resource ids.
pub(crate) fn check_roles(
    rules: &TokenRules,
    principal: &str,
    operation: Operation,
    asked: ResourcePath,
) -> Result<()> {
    let mut has = rules.roles.iter().flat_map(|roles| roles.of(principal));
    let (actions, asked) = match operation.needed_of_role() {
        Needed::Key => {
            let text = "The request cannot be authorized by an Entra token: it requires a key of \
                        the account.";
            return Err(Failure::new(Fault::NotForTokens, text));
        }
        Needed::AnyRole if has.next().is_some() => return Ok(()),
        Needed::AnyRole => (&[METADATA][..], ResourcePath::account()),
        Needed::Actions(actions) => (actions, asked),
    };
    let granted: Vec<&Assignment> = has.filter(|has| has.scope.contains(&asked)).collect();
    let permits = |action: &str| {
        granted.iter().flat_map(|has| &*has.actions).any(|pattern| matches(pattern, action))
    };
    let Some(missing) = actions.iter().find(|action| !permits(action)) else { return Ok(()) };
    let fault = if *missing == METADATA { Fault::NoMetadataRole } else { Fault::NoDataRole };
    Err(Failure::new(
        fault,
        format!(
            "Request is blocked because principal [{principal}] does not have required RBAC \
             permissions to perform action [{PREFIX}{missing}] on resource [{asked}]."
        ),
    ))
}

fn matches(pattern: &str, action: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => action.starts_with(beginning),
        None => pattern == action,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(role: &str, scope: &str) -> Vec<(String, String, String)> {
        vec![("ann".to_owned(), role.to_owned(), scope.to_owned())]
    }

    #[test]
    fn roles_and_scopes_that_are_refused() {
        let own = |name: &str, action: &str| vec![(name.to_owned(), vec![action.to_owned()])];
        for (own, role, scope, why) in [
            (vec![], "reader", "/", ""),
            (vec![], "00000000-0000-0000-0000-000000000002", "/dbs/d/colls/c", ""),
            (own("mine", "sqlDatabases/containers/items/read"), "mine", "/dbs/d", ""),
            (own("mine", &format!("{PREFIX}*")), "mine", "dbs/d/", ""),
            (vec![], "owner", "/", "role 'owner' does not exist"),
            (vec![], "reader", "", "neither"),
            (vec![], "reader", "/dbs/d/colls/c/docs/1", "neither"),
            (vec![], "reader", "/subscriptions/x", "neither"),
            (own("reader", "readMetadata"), "reader", "/", "duplicate role"),
            (own("mine", "sqlDatabases/*/items"), "mine", "/", "only at its end"),
            (own("mine", "write"), "mine", "/", "starts with"),
        ] {
            let found = Roles::new(&own, &assigned(role, scope)).err().unwrap_or_default();
            assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{found}");
        }
    }

    #[test]
    fn what_the_service_s_roles_permit() {
        let permits = |role: usize, operation: Operation| match operation.needed_of_role() {
            Needed::AnyRole => true,
            Needed::Key => false,
            Needed::Actions(actions) => actions
                .iter()
                .all(|action| BUILT_IN[role].2.iter().any(|pattern| matches(pattern, action))),
        };
        for operation in Operation::ALL {
            let row = operation.row();
            let needs_key = operation.needed_of_role() == Needed::Key;
            assert_eq!(permits(1, *operation), !needs_key, "contributor: {operation:?}");
            // Reading conflicts requires `manageConflicts`, which readers lack.
            let conflict = format!("{operation:?}").contains("Conflict");
            let reads = row.access == crate::operation::Access::Reads && !needs_key && !conflict;
            assert_eq!(permits(0, *operation), reads, "reader: {operation:?}");
        }
    }
}
