//! Sets of privileges: the actions that they permit, and laws over random sets.

use document::array;

use super::*;

const TARGETS: &[Target<'_>] = &[
    Target::Cluster,
    Target::Database("x"),
    Target::Database("local"),
    Target::Collection("x", "c"),
    Target::Collection("x", "system.js"),
    Target::Collection("y", "c"),
    Target::Collection("local", "d"),
];

fn privilege(resource: Resource, actions: &[Action]) -> Privilege {
    Privilege::new(resource, Actions::of(actions))
}

fn random_resource(random: &mut fastrand::Rng) -> Resource {
    match random.u8(..8) {
        0 => Resource::AnyResource,
        1 => Resource::Cluster,
        _ => {
            let database = ["", "x", "y", "local"][random.usize(..4)];
            Resource::namespace(database, ["", "c", "d", "system.js"][random.usize(..4)])
        }
    }
}

/// Returns mostly few actions, sometimes all of them.
fn random_actions(random: &mut fastrand::Rng) -> Actions {
    let count = if random.u8(..10) == 0 { Action::ALL.len() } else { random.usize(..4) };
    (0..count).map(|_| Action::ALL[random.usize(..Action::ALL.len())]).collect()
}

fn random_parts(random: &mut fastrand::Rng) -> Vec<Privilege> {
    let count = random.usize(..12);
    (0..count).map(|_| Privilege::new(random_resource(random), random_actions(random))).collect()
}

fn set(parts: &[Privilege]) -> Privileges {
    let mut set = Privileges::new();
    for part in parts {
        set.add(part.clone()).unwrap();
    }
    set
}

fn parse(value: Value) -> Result<Privileges> {
    Privileges::parse(value.as_ref().as_array().unwrap())
}

/// A set permits everything that any of its parts permits, survives a round trip through BSON, and
/// does not depend on the order of insertion.
#[test]
fn a_set_permits_what_any_part_permits() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut parts = random_parts(&mut random);
        let merged = set(&parts);
        for action in Action::ALL {
            for target in TARGETS {
                let any = parts
                    .iter()
                    .any(|part| part.resource.covers(*target) && part.actions.contains(*action));
                assert_eq!(merged.allows(*action, *target), any, "{seed} {action:?} {target:?}");
                assert_eq!(merged.actions_on(*target).contains(*action), any);
            }
        }
        assert_eq!(parse(merged.to_value()).unwrap(), merged, "{seed}");
        assert!(merged.iter().is_sorted_by(|one, other| one.resource < other.resource));
        random.shuffle(&mut parts);
        assert_eq!(set(&parts), merged, "{seed}");
        let mut twice = merged.clone();
        twice.add_all(&merged).unwrap();
        assert_eq!(twice, merged, "{seed}");
    }
}

/// Removal removes exactly the removed actions.
#[test]
fn what_is_removed_is_gone() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let parts = random_parts(&mut random);
        let before = set(&parts);
        let removed = set(&random_parts(&mut random));
        let mut after = before.clone();
        after.remove_all(&removed);
        for entry in &before {
            let taken = removed.entry(entry.resource.key()).map_or(Actions::NONE, |of| of.actions);
            let left = after.entry(entry.resource.key()).map_or(Actions::NONE, |of| of.actions);
            assert_eq!(left, entry.actions.without(taken), "{seed} {entry:?}");
        }
        assert!(after.iter().all(|entry| !entry.actions.is_empty()), "{seed}");
        assert!(after.len() <= before.len());
        after.remove_all(&before);
        assert!(after.is_empty(), "{seed}");
    }
}

#[test]
fn anything_permitted_shows_a_name() {
    let x_c = set(&[privilege(Resource::namespace("x", "c"), &[Action::Find])]);
    let all = set(&[privilege(Resource::namespace("", ""), &[Action::ListIndexes])]);
    let cluster = set(&[privilege(Resource::Cluster, &[Action::AnyAction])]);
    for (privileges, database, on_database, on_c, on_d) in [
        (&x_c, "x", true, true, false),
        (&x_c, "y", false, false, false),
        (&all, "y", true, true, true),
        (&all, "local", false, false, false),
        (&cluster, "x", false, false, false),
    ] {
        assert_eq!(privileges.allows_any_on_database(database), on_database, "{privileges:?}");
        assert_eq!(privileges.allows_any_on_collection(database, "c"), on_c, "{privileges:?}");
        assert_eq!(privileges.allows_any_on_collection(database, "d"), on_d, "{privileges:?}");
    }
    let both = Actions::of(&[Action::Find, Action::Insert]);
    let mut parts = x_c;
    parts.add(privilege(Resource::namespace("x", ""), &[Action::Insert])).unwrap();
    assert!(parts.allows_all(both, Target::Collection("x", "c")));
    assert!(!parts.allows_all(both, Target::Collection("x", "d")));
}

#[test]
fn a_role_outside_admin_stays_in_its_database() {
    for (resource, on_admin, on_x) in [
        (Resource::namespace("x", "c"), true, true),
        (Resource::namespace("x", ""), true, true),
        (Resource::namespace("", ""), true, false),
        (Resource::namespace("", "c"), true, false),
        (Resource::namespace("y", "c"), true, false),
        (Resource::Cluster, true, false),
        (Resource::AnyResource, true, false),
    ] {
        let privileges = set(&[privilege(resource, &[Action::Find])]);
        assert_eq!(privileges.check_scope("admin").is_ok(), on_admin, "{privileges:?}");
        let refused = privileges.check_scope("x").err().map(|error| error.code);
        assert_eq!(refused.is_none(), on_x, "{privileges:?}");
        assert!(refused.is_none_or(|code| code == InvalidRoleModification));
    }
}

#[test]
fn wrong_documents_are_refused() {
    let resource = || doc! { "db": "x", "collection": "c" };
    let actions = || array!["find"];
    for (value, part) in [
        (array!["find"], "must be objects"),
        (array![doc! { "actions": actions() }], "missing"),
        (array![doc! { "resource": resource() }], "missing"),
        (array![doc! { "resource": resource(), "actions": array![] }], "missing actions field"),
        (array![doc! { "resource": 1, "actions": actions() }], "wrong type 'int'"),
        (array![doc! { "resource": resource(), "actions": "find" }], "wrong type 'string'"),
        (array![doc! { "resource": resource(), "actions": array![1] }], "privilege.actions.0"),
        (array![doc! { "resource": doc! {}, "actions": actions() }], "resource must have"),
        (array![doc! { "resource": resource(), "actions": actions(), "x": 1 }], "privilege.x"),
        (
            array![doc! { "resource": resource(), "actions": array!["find", "fly", "swim"] }],
            "Unrecognized action privilege strings: fly,swim",
        ),
    ] {
        let error = parse(value.clone()).unwrap_err();
        assert_eq!(error.code, FailedToParse, "{value:?}");
        assert!(error.message.contains(part), "{}", error.message);
    }
}

#[test]
fn a_set_has_an_end() {
    let of =
        |number: usize| privilege(Resource::namespace("x", &number.to_string()), &[Action::Find]);
    let mut full = Privileges::new();
    for number in 0..MAX_PRIVILEGES {
        full.add(of(number)).unwrap();
    }
    let before = full.clone();
    assert_eq!(full.add(of(MAX_PRIVILEGES)).unwrap_err().code, BadValue);
    assert_eq!(full, before);
    full.add(privilege(of(7).resource, &[Action::Insert])).unwrap();
    assert!(full.allows(Action::Insert, Target::Collection("x", "7")));
    let mut more = set(&[of(MAX_PRIVILEGES)]);
    assert!(more.add_all(&full).is_err());
    assert_eq!(more.len(), MAX_PRIVILEGES);
}
