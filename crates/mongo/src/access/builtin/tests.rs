//! The privileges of the built-in roles, checked for some two dozen actions each.

use document::ArrayRef;

use super::*;
use crate::access::{
    action::{Action, Actions},
    privilege::Privilege,
    resource::{Resource, Target},
};

/// Actions to check, in the groups of `ANSWERS`.
const QUESTIONS: &[&[(Action, Target<'_>)]] = &[
    &[
        (Action::Find, Target::Collection("x", "c")),
        (Action::Insert, Target::Collection("x", "c")),
        (Action::CreateIndex, Target::Collection("x", "c")),
        (Action::CollMod, Target::Collection("x", "c")),
        (Action::EbbExpiry, Target::Collection("x", "c")),
    ],
    &[(Action::Find, Target::Collection("y", "c")), (Action::Insert, Target::Collection("y", "c"))],
    &[
        (Action::Find, Target::Collection("x", "system.js")),
        (Action::Find, Target::Collection("local", "c")),
        (Action::Insert, Target::Collection("config", "c")),
        (Action::Find, Target::Collection("admin", "system.users")),
    ],
    &[
        (Action::ListCollections, Target::Database("x")),
        (Action::DropDatabase, Target::Database("x")),
        (Action::DropDatabase, Target::Database("y")),
    ],
    &[(Action::CreateUser, Target::Database("x")), (Action::CreateUser, Target::Database("y"))],
    &[
        (Action::ListDatabases, Target::Cluster),
        (Action::ServerStatus, Target::Cluster),
        (Action::InProg, Target::Cluster),
    ],
    &[
        (Action::KillOp, Target::Cluster),
        (Action::SetParameter, Target::Cluster),
        (Action::SetFeatureCompatibilityVersion, Target::Cluster),
    ],
    &[(Action::EbbClock, Target::Cluster), (Action::ConfigureFailPoint, Target::Cluster)],
];

/// One letter for each of `QUESTIONS`: `y` if the role permits it.
const ANSWERS: &[(&str, &str)] = &[
    ("dbAdmin@x", "..yy. .. .... yy. .. ... ... .."),
    ("dbOwner@x", "yyyyy .. y... yy. y. ... ... .."),
    ("read@x", "y...y .. y... y.. .. ... ... .."),
    ("readWrite@x", "yyy.y .. y... y.. .. ... ... .."),
    ("userAdmin@x", "..... .. .... ... y. ... ... .."),
    ("backup@admin", "y.... y. yy.y y.. .. yy. ... .."),
    ("clusterAdmin@admin", "..... .. .yy. .yy .. yyy yyy yy"),
    ("clusterManager@admin", "..... .. ..y. ... .. ... ..y .."),
    ("clusterMonitor@admin", "..... .. .y.. ... .. yyy ... .."),
    ("dbAdminAnyDatabase@admin", "..yy. .. .... yyy .. y.. ... .."),
    ("hostManager@admin", "..... .. .... ... .. ... yy. yy"),
    ("readAnyDatabase@admin", "y...y y. y... y.. .. y.. ... .."),
    ("readWriteAnyDatabase@admin", "yyy.y yy y... y.. .. y.. ... .."),
    ("restore@admin", ".yyy. .y ..yy y.. yy ... ... .."),
    ("root@admin", "yyyyy yy yyyy yyy yy yyy yyy yy"),
    ("userAdminAnyDatabase@admin", "..... .. ...y ... yy y.. ... .."),
];

fn answers(name: &RoleName) -> String {
    let privileges = privileges_of(name).unwrap();
    let letter = |(action, target): &(Action, Target<'_>)| {
        if privileges.allows(*action, *target) { 'y' } else { '.' }
    };
    let groups: Vec<String> =
        QUESTIONS.iter().map(|group| group.iter().map(letter).collect()).collect();
    groups.join(" ")
}

/// Returns all built-in roles: the roles of a user database, and the roles of `admin` alone.
fn all() -> Vec<RoleName> {
    let mut names = names_for("x");
    names.extend(ON_ADMIN.iter().map(|(role, _)| RoleName::new(role, ADMIN)));
    names
}

fn of(role: &str) -> Privileges {
    privileges_of(&RoleName::new(role, ADMIN)).unwrap()
}

/// Returns whether a set permits everything that another set does, on the same or on wider
/// resources.
fn permits_all(set: &Privileges, other: &Privileges) -> bool {
    other.iter().all(|Privilege { resource, actions }| {
        set.iter()
            .filter(|entry| entry.resource == *resource || entry.resource == Resource::AnyResource)
            .fold(Actions::NONE, |all, entry| all.union(entry.actions))
            .contains_all(*actions)
    })
}

#[test]
fn roles_permit_what_the_manual_says() {
    let found: Vec<_> = all().iter().map(|name| (name.to_string(), answers(name))).collect();
    let expected: Vec<_> =
        ANSWERS.iter().map(|(role, answers)| ((*role).to_owned(), (*answers).to_owned())).collect();
    assert_eq!(found, expected, "{found:#?}");
}

#[test]
fn names_are_found_where_they_are() {
    for database in ["x", ADMIN, "local", "$external"] {
        let names = names_for(database);
        assert!(names.is_sorted());
        assert!(names.iter().all(|name| is_builtin(name) && name.database == database));
    }
    assert_eq!(names_for("x").len(), EVERYWHERE.len());
    assert_eq!(names_for(ADMIN).len(), EVERYWHERE.len() + ON_ADMIN.len());
    assert!(names_for("$external").is_empty());
    for (role, database) in
        [("root", "x"), ("__system", ADMIN), ("Read", "x"), ("", "x"), ("read", "$external")]
    {
        let name = RoleName::new(role, database);
        assert!(!is_builtin(&name) && privileges_of(&name).is_none(), "{name}");
        assert!(super::role(&name).is_none());
    }
}

/// No privilege is lost to the size limit, and a set survives a round trip through BSON.
#[test]
fn sets_are_whole() {
    for name in all() {
        let privileges = privileges_of(&name).unwrap();
        assert!(!privileges.is_empty() && privileges.len() < 50, "{name}");
        let value = privileges.to_value();
        let read: ArrayRef<'_> = value.as_ref().as_array().unwrap();
        assert_eq!(Privileges::parse(read).unwrap(), privileges, "{name}");
        if name.database != ADMIN {
            assert!(privileges.check_scope(&name.database).is_ok(), "{name}");
        }
    }
}

#[test]
fn wide_roles_have_what_narrow_ones_have() {
    for (wide, narrow) in [
        ("readWrite", "read"),
        ("dbOwner", "readWrite"),
        ("dbOwner", "dbAdmin"),
        ("dbOwner", "userAdmin"),
        ("readWriteAnyDatabase", "readAnyDatabase"),
        ("clusterAdmin", "clusterManager"),
        ("clusterAdmin", "clusterMonitor"),
        ("clusterAdmin", "hostManager"),
    ] {
        assert!(permits_all(&of(wide), &of(narrow)), "{wide} {narrow}");
        assert!(!permits_all(&of(narrow), &of(wide)), "{narrow} {wide}");
    }
    for (role, _) in ON_ADMIN {
        assert!(permits_all(&of("root"), &of(role)), "{role}");
    }
}

/// Covers every action on the cluster, and every action on a database or collection that can exist.
#[test]
fn root_may_do_everything() {
    let root = of("root");
    for action in Action::ALL {
        assert!(root.allows(*action, Target::Cluster), "{action:?}");
    }
    for database in ["x", ADMIN, "config", "local"] {
        for privilege in &privileges_of(&RoleName::new("dbOwner", "z")).unwrap() {
            let Resource::Namespace { collection, .. } = &privilege.resource else {
                panic!("{privilege:?}");
            };
            let collection = if collection.is_empty() { "c" } else { collection };
            let target = Target::Collection(database, collection);
            assert!(root.allows_all(privilege.actions, target), "{target:?}");
        }
        assert!(root.allows(Action::DropDatabase, Target::Database(database)), "{database}");
    }
    for action in [Action::ListCollections, Action::ListIndexes, Action::Validate] {
        assert!(root.allows(action, Target::Collection("x", "system.views")), "{action:?}");
    }
}
