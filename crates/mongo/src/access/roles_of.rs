//! Resolves a list of roles to all inherited roles and their privileges. Walks the graph of roles
//! without recursion, and terminates on cycles.

use std::collections::BTreeSet;

use super::{builtin, privilege::Privileges, role::Role, role_name::RoleName};
use crate::limits::MAX_INHERITED_ROLES;

/// The roles reached so far, and those whose inherited roles are still to be visited.
#[derive(Default)]
struct RoleTraversal {
    reached: BTreeSet<RoleName>,
    waiting: Vec<RoleName>,
    /// Whether roles were left out because of the limit on inherited roles.
    cut_short: bool,
}

impl RoleTraversal {
    fn reach(&mut self, names: &[RoleName]) {
        for name in names {
            if self.reached.contains(name) {
                continue;
            }
            if MAX_INHERITED_ROLES <= self.reached.len() {
                self.cut_short = true;
                return;
            }
            self.reached.insert(name.clone());
            self.waiting.push(name.clone());
        }
    }

    /// Visits each reachable role once, if it exists.
    fn run(&mut self, lookup: impl Fn(&RoleName) -> Option<Role>, mut visit: impl FnMut(Role)) {
        while let Some(name) = self.waiting.pop() {
            let Some(role) = builtin::role(&name).or_else(|| lookup(&name)) else { continue };
            self.reach(&role.roles);
            visit(role);
        }
    }
}

/// Returns all roles reachable from these names, including themselves, sorted and without
/// duplicates, and their privileges together. `lookup` finds user-defined roles; built-in roles are
/// found first. Names of roles that do not exist grant nothing and are not in the list.
///
/// Roles beyond [`MAX_INHERITED_ROLES`], and privileges beyond the maximum number of resources in a
/// set, grant nothing: the result may permit less than the roles do, but never more.
pub(crate) fn expand(
    names: &[RoleName],
    lookup: impl Fn(&RoleName) -> Option<Role>,
) -> (Vec<RoleName>, Privileges) {
    let (mut found, mut privileges) = (BTreeSet::new(), Privileges::new());
    let mut traversal = RoleTraversal::default();
    traversal.reach(names);
    traversal.run(lookup, |role| {
        for privilege in &role.privileges {
            // A privilege beyond the limit is left out; others may still extend existing entries.
            let _ = privileges.add(privilege.clone());
        }
        found.insert(role.name);
    });
    (found.into_iter().collect(), privileges)
}

/// Returns whether a role that is granted these roles would inherit from itself. Also returns true
/// if the graph is too large to tell.
pub(crate) fn would_cycle(
    role: &RoleName,
    granted: &[RoleName],
    lookup: impl Fn(&RoleName) -> Option<Role>,
) -> bool {
    let mut traversal = RoleTraversal::default();
    traversal.reach(granted);
    traversal.run(lookup, |_| ());
    traversal.cut_short || traversal.reached.contains(role)
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::BTreeMap};

    use super::*;
    use crate::access::{
        action::{Action, Actions},
        privilege::Privilege,
        resource::{Resource, Target},
    };

    fn of(name: &str) -> RoleName {
        RoleName::new(name, "x")
    }

    /// Returns a role that allows `find` on the collection of its own name, and inherits `roles`.
    fn role(name: &str, roles: &[&str]) -> (RoleName, Role) {
        let mut privileges = Privileges::new();
        let resource = Resource::namespace("x", name);
        privileges.add(Privilege::new(resource, Actions::of(&[Action::Find]))).unwrap();
        let roles = roles.iter().map(|role| of(role)).collect();
        (of(name), Role { name: of(name), privileges, roles })
    }

    fn graph() -> BTreeMap<RoleName, Role> {
        BTreeMap::from([
            role("a", &["b", "c"]),
            role("b", &["d"]),
            role("c", &["d", "gone"]),
            role("d", &[]),
            role("round", &["trip"]),
            role("trip", &["round", "d"]),
            role("self", &["self"]),
            role("reader", &["read"]),
        ])
    }

    #[test]
    fn roles_come_to_all_they_have() {
        let graph = graph();
        for (names, expected) in [
            (&[][..], &[][..]),
            (&["d"], &["d"]),
            (&["b", "b"], &["b", "d"]),
            (&["a"], &["a", "b", "c", "d"]),
            (&["round"], &["d", "round", "trip"]),
            (&["self", "d"], &["d", "self"]),
            (&["gone"], &[]),
            (&["reader"], &["read", "reader"]),
        ] {
            let names: Vec<_> = names.iter().map(|name| of(name)).collect();
            let asked = Cell::new(0);
            let (roles, privileges) = expand(&names, |name| {
                asked.set(asked.get() + 1);
                graph.get(name).cloned()
            });
            let expected: Vec<_> = expected.iter().map(|name| of(name)).collect();
            assert_eq!(roles, expected, "{names:?}");
            assert!(asked.get() <= graph.len(), "each is looked up once");
            for name in graph.keys() {
                let target = Target::Collection("x", &name.role);
                let reads_all = expected.contains(&of("read"));
                let permitted = expected.contains(name) || reads_all;
                assert_eq!(privileges.allows(Action::Find, target), permitted, "{names:?} {name}");
            }
        }
    }

    #[test]
    fn a_built_in_role_is_not_looked_up() {
        let (roles, privileges) = expand(&[of("read")], |name| panic!("{name}"));
        assert_eq!(roles, [of("read")]);
        assert_eq!(Some(privileges), builtin::privileges_of(&of("read")));
    }

    #[test]
    fn a_circle_is_seen_before_it_is_made() {
        let graph = graph();
        for (name, granted, expected) in [
            ("d", "a", true),
            ("d", "d", true),
            ("a", "d", false),
            ("a", "round", false),
            ("d", "round", true),
            ("gone", "a", true),
            ("new", "a", false),
            ("b", "read", false),
        ] {
            let found = would_cycle(&of(name), &[of(granted)], |name| graph.get(name).cloned());
            assert_eq!(found, expected, "{name} {granted}");
        }
    }

    /// Each role inherits the next one: an infinite chain, which exceeds every limit.
    #[test]
    fn a_graph_without_an_end_ends() {
        let next = |name: &RoleName| {
            let number: u64 = name.role.parse().unwrap();
            Some(role(&name.role, &[&(number + 1).to_string()]).1)
        };
        let (roles, privileges) = expand(&[of("0")], next);
        assert_eq!(roles.len(), MAX_INHERITED_ROLES);
        assert_eq!(privileges.len(), crate::limits::MAX_PRIVILEGES);
        assert!(privileges.allows(Action::Find, Target::Collection("x", "0")));
        assert!(would_cycle(&of("new"), &[of("0")], next));
    }
}
