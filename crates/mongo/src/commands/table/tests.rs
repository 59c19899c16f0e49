//! The rows are consistent with each other and with rules that must not change by accident.

use document::{DocRef, Document, array, doc};

use super::{COMMANDS, NAMES, NOT_YET, ROWS};
use crate::{
    arguments::GENERIC,
    command_row::{Access, ApiVersion1, CommandRow, ReadLevels},
};

/// Commands that always change something. A row that claimed otherwise would let a read-only sender
/// change data, so they are listed here a second time.
const CHANGES: &[&str] = &[
    "setParameter",
    "setFeatureCompatibilityVersion",
    "create",
    "drop",
    "dropDatabase",
    "renameCollection",
    "collMod",
    "createIndexes",
    "dropIndexes",
    "deleteIndexes",
    "insert",
    "update",
    "delete",
    "bulkWrite",
    "findAndModify",
    "findandmodify",
    "createUser",
    "updateUser",
    "dropUser",
    "dropAllUsersFromDatabase",
    "grantRolesToUser",
    "revokeRolesFromUser",
    "createRole",
    "updateRole",
    "dropRole",
    "dropAllRolesFromDatabase",
    "grantRolesToRole",
    "revokeRolesFromRole",
    "grantPrivilegesToRole",
    "revokePrivilegesFromRole",
    "invalidateUserCache",
    "killSessions",
    "killAllSessions",
    "killAllSessionsByPattern",
    "killOp",
    "fsync",
    "configureFailPoint",
];

fn named(name: &str) -> Document {
    let mut command = Document::new();
    command.push(name, 1);
    command
}

#[test]
fn every_row_is_found_by_its_name() {
    for (position, row) in ROWS.iter().enumerate() {
        let known = COMMANDS.find(row.name).unwrap();
        assert_eq!((known.position, known.row.name), (position, row.name));
        assert_eq!(NAMES[position], row.name);
        assert!(COMMANDS.find_not_yet(row.name).is_none(), "{}", row.name);
    }
    for name in ["", "Find", "find ", "nonsense"] {
        assert!(COMMANDS.find(name).is_none(), "{name:?}");
    }
}

#[test]
fn every_command_is_sorted() {
    for row in ROWS {
        let body = named(row.name);
        let changes_nothing = COMMANDS.changes_nothing(DocRef::Tree(&body));
        match row.access {
            Access::Reads => assert!(changes_nothing, "{}", row.name),
            Access::Writes => assert!(!changes_nothing, "{}", row.name),
            Access::ByArguments(changes) => {
                assert_eq!(changes_nothing, !changes(DocRef::Tree(&body)), "{}", row.name);
            }
        }
    }
    for name in CHANGES {
        let row = COMMANDS.find(name).unwrap().row;
        assert!(matches!(row.access, Access::Writes), "{name}");
    }
    for missing in NOT_YET {
        assert!(!COMMANDS.changes_nothing(DocRef::Tree(&named(missing.name))), "{}", missing.name);
    }
}

#[test]
fn some_are_judged_by_their_arguments() {
    let pipeline =
        |stage: &str| doc! { "aggregate": "c", "pipeline": array![doc! {}, named(stage)] };
    for (command, reads) in [
        (doc! {}, false),
        (doc! { "nonsense": 1 }, false),
        (pipeline("$match"), true),
        (pipeline("$out"), false),
        (pipeline("$merge"), false),
        (doc! { "aggregate": "c" }, true),
        (doc! { "explain": pipeline("$match") }, true),
        (doc! { "explain": pipeline("$out") }, false),
        (doc! { "explain": 1 }, true),
        (doc! { "usersInfo": 1 }, true),
        (doc! { "usersInfo": 1, "showCredentials": true }, false),
        (doc! { "ebbClock": 1 }, true),
        (doc! { "ebbClock": 1, "advanceSeconds": 1 }, false),
        (doc! { "ebbClock": 1, "set": 1 }, false),
        (doc! { "x": 1, "find": "c" }, false),
    ] {
        assert_eq!(COMMANDS.changes_nothing(DocRef::Tree(&command)), reads, "{command:?}");
    }
}

/// Columns that exclude or require each other, for every row.
#[test]
fn columns_agree() {
    for row in ROWS {
        let name = row.name;
        let writes = matches!(row.access, Access::Writes);
        assert!(!writes || !row.work.is_read(), "{name} writes and counts as a read");
        assert!(writes || !row.work.is_write(), "{name} counts as a write and only reads");
        assert!(!writes || !row.ends_with_client, "{name} would be cut off in the middle");
        // Stopping operations stores nothing that a write concern could wait for.
        let stores = writes && !name.starts_with("kill");
        assert!(!stores || row.write_concern, "{name} writes and takes no write concern");
        assert!(!row.stores_bytes || row.work.is_write(), "{name} stores nothing");
        assert!(row.sees_documents || !row.work.is_read(), "{name} reads documents");
        assert!(row.sees_documents || !row.work.is_write(), "{name} writes documents");
        let levels = row.read_levels != ReadLevels::Local;
        assert!(!levels || row.work.is_read(), "{name} has levels and does not read");
        // Only commands that precede a login are accepted as OP_QUERY: handshakes and the login
        // itself.
        assert!(!row.legacy || row.before_login(), "{name} comes before any login");
        assert!(row.legacy || !row.awaits_state, "{name}: only handshakes wait for news");
        let carries = row.awaits_state || row.hides_arguments;
        assert_eq!(
            carries, !row.compress,
            "{name}: only handshakes and credentials are not compressed"
        );
        if let ApiVersion1::Except(outside) = row.api {
            let own = outside.iter().filter(|path| !path.contains('.'));
            let generic = own.filter(|field| GENERIC.contains(field)).count();
            assert_eq!(generic, 0, "{name}: {outside:?} has what all commands share");
        }
        let fields = row.fields.iter();
        assert!(fields.clone().all(|field| fields.clone().filter(|it| *it == field).count() == 1));
        assert!(!row.help.is_empty(), "{name}");
    }
}

/// An alias must not differ from its command in any column.
#[test]
fn aliases_are_their_commands() {
    for row in ROWS {
        let Some(name) = row.alias_of else { continue };
        let of = COMMANDS.find(name).unwrap().row;
        assert_eq!(of.alias_of, None, "{name} is an alias itself");
        assert_eq!((COMMANDS.name_of(row.name), COMMANDS.name_of(name)), (name, name));
        let facts = |row: &'static CommandRow| {
            let flags = (row.admin_only, row.legacy, row.retryable, row.sees_documents);
            (row.fields, flags, row.write_concern, row.api, row.home, row.work)
        };
        assert_eq!(facts(row), facts(of), "{}", row.name);
    }
    for name in ["hello", "nonsense"] {
        assert_eq!(COMMANDS.name_of(name), name);
    }
}

/// The specification of OP_COMPRESSED forbids the compression of these commands; drivers send them
/// uncompressed, too.
#[test]
fn handshakes_and_credentials_are_never_compressed() {
    let names = ROWS.iter().map(|row| row.name).chain(NOT_YET.iter().map(|row| row.name));
    let may = |name: &str| COMMANDS.may_compress(DocRef::Tree(&named(name)));
    let never: Vec<&str> = names.chain(["getnonce", "nonsense"]).filter(|it| !may(it)).collect();
    let want = [
        "hello",
        "isMaster",
        "ismaster",
        "saslStart",
        "saslContinue",
        "authenticate",
        "createUser",
        "updateUser",
        "getnonce",
    ];
    assert_eq!(never, want);
}
