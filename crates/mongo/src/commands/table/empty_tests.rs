//! The rights that commands require with empty arguments. A right derived from the elements of a
//! list disappears if the list is empty, so each command that then requires nothing is listed here
//! with the reason why that is safe. A new command without a fixed right must be added.

use document::{Document, Value, array};

use super::{ROWS, roles_tests::message};
use crate::{access::Privileges, command_row::CommandRow, errors::Result, rights::Rights};

/// The rights that a command with empty arguments requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    /// The command always requires a right.
    Requires,
    /// The command requires nothing, not even a login.
    Everybody(&'static str),
    /// Requires only a login, because the command affects the sender alone or checks further rights
    /// as it runs.
    Own(&'static str),
    /// May require nothing: with empty arguments the command is refused or has no effect.
    Refused(&'static str),
}

use Empty::{Everybody, Own, Refused, Requires};

const HANDSHAKE: &str = "drivers ask who the server is before they log in";
const CONSTANT: &str = "answers what is the same for all, or what the sender has said";
const LOGIN: &str = "is how a client logs in";
const SESSIONS: &str = "is about sessions of the sender alone";

/// The commands whose rows name no right on the server, the command's database or its collection.
const COMMANDS: &[(&str, Empty)] = &[
    ("hello", Everybody(HANDSHAKE)),
    ("isMaster", Everybody(HANDSHAKE)),
    ("ismaster", Everybody(HANDSHAKE)),
    ("ping", Everybody(CONSTANT)),
    ("buildInfo", Everybody(CONSTANT)),
    ("buildinfo", Everybody(CONSTANT)),
    ("whatsmyuri", Everybody(CONSTANT)),
    ("connectionStatus", Everybody("shows the sender's own login and roles")),
    ("listCommands", Everybody(CONSTANT)),
    ("endSessions", Everybody(SESSIONS)),
    ("logout", Everybody("ends the sender's own login")),
    ("saslStart", Everybody(LOGIN)),
    ("saslContinue", Everybody(LOGIN)),
    ("authenticate", Everybody(LOGIN)),
    ("startSession", Own("makes a number up")),
    ("refreshSessions", Own(SESSIONS)),
    ("killSessions", Own(SESSIONS)),
    ("commitTransaction", Own(SESSIONS)),
    ("abortTransaction", Own(SESSIONS)),
    ("getLastRequestStatistics", Own("shows operations of the sender alone")),
    ("getMore", Own("finds cursors of the sender alone, whose needs are checked again")),
    ("killCursors", Own("finds cursors of the sender alone, or asks for killAnyCursor")),
    ("killOp", Own("finds operations of the sender alone, or asks for killop")),
    (
        "listDatabases",
        Own("shows databases on which the sender has a right, or asks for listDatabases"),
    ),
    ("ebbClock", Own("reads the clock, and asks for ebbClock to move it")),
    ("aggregate", Own("without a collection has documents of its own, and asks for what it joins")),
    ("usersInfo", Own("shows the sender, asks for viewUser on others, and refuses an empty list")),
    ("rolesInfo", Own("shows roles of the sender, asks for viewRole on others")),
    (
        "bulkWrite",
        Refused("an empty list of operations is refused, and so is one without a namespace"),
    ),
    ("renameCollection", Refused("both names have to be given")),
    ("explain", Refused("what is not a command that can be explained is refused by its name")),
    ("updateUser", Own("asks for a right on each field that is given, and refuses to change none")),
    ("customAction", Refused("an unknown action is refused")),
    ("create", Requires),
    ("collMod", Requires),
    ("cloneCollectionAsCapped", Requires),
    ("profile", Requires),
    ("shardCollection", Requires),
    ("enableSharding", Requires),
    ("listCollections", Requires),
    ("currentOp", Requires),
    ("getDiagnosticData", Requires),
    ("dataSize", Requires),
    ("insert", Requires),
    ("update", Requires),
    ("delete", Requires),
    ("findAndModify", Requires),
    ("findandmodify", Requires),
    ("createUser", Requires),
    ("dropUser", Requires),
    ("dropAllUsersFromDatabase", Requires),
    ("grantRolesToUser", Requires),
    ("revokeRolesFromUser", Requires),
    ("createRole", Requires),
    ("updateRole", Requires),
    ("grantPrivilegesToRole", Requires),
    ("revokePrivilegesFromRole", Requires),
    ("grantRolesToRole", Requires),
    ("revokeRolesFromRole", Requires),
    ("dropRole", Requires),
    ("dropAllRolesFromDatabase", Requires),
];

/// Returns a command without arguments, and with each kind of empty value as its arguments.
fn bodies(row: &CommandRow) -> Vec<Document> {
    let empty = [Value::Array(Vec::new()), Value::Document(Document::new()), Value::from(false)];
    let firsts = [1.into(), "c".into(), "shop.c".into()].into_iter().chain(empty.clone());
    let mut bodies = Vec::new();
    for first in firsts {
        let of = |value: Option<&Value>| {
            let mut body = Document::new();
            body.push(row.name, first.clone());
            for field in row.fields.iter().filter(|_| value.is_some()) {
                body.push(*field, value.cloned().unwrap_or(Value::Null));
            }
            body
        };
        bodies.push(of(None));
        bodies.extend(empty.iter().map(|value| of(Some(value))));
        // Each argument alone as an empty list, and as a list with one empty document.
        for field in row.fields {
            for value in [array![], array![Document::new()]] {
                let mut body = of(None);
                body.push(*field, value);
                bodies.push(body);
            }
        }
    }
    bodies
}

/// Returns whether a command requires no privilege. Fails if the command is refused.
fn requires_nothing(row: &'static CommandRow, body: &Document) -> Result<bool> {
    let database = if row.admin_only { "admin" } else { "shop" };
    let message = message(database, body);
    let needs = row.rights.needs(&row.request(message.body(), database, &message))?;
    Ok(needs.iter().all(|need| need.is_met(&Privileges::new())))
}

#[test]
fn empty_arguments_require_what_others_do() {
    for row in ROWS {
        let of_nothing = |body: &Document| requires_nothing(row, body).unwrap_or(false);
        let free = bodies(row).into_iter().find(of_nothing);
        let named: Vec<Empty> =
            COMMANDS.iter().filter(|(name, _)| *name == row.name).map(|(_, it)| *it).collect();
        let fixed =
            matches!(row.rights, Rights::Server(_) | Rights::Database(_) | Rights::Collection(_));
        if fixed {
            assert_eq!((&free, named.len()), (&None, 0), "{}", row.name);
            continue;
        }
        let [empty] = named[..] else { panic!("say here what {} requires: {free:?}", row.name) };
        match empty {
            Requires => assert_eq!(free, None, "{}", row.name),
            Everybody(why) => {
                assert!(matches!(row.rights, Rights::Open) && !why.is_empty(), "{}", row.name);
            }
            Own(why) | Refused(why) => {
                assert!(free.is_some() && !why.is_empty(), "{} requires a right", row.name);
                assert!(!row.before_login(), "{}", row.name);
            }
        }
    }
    for (name, _) in COMMANDS {
        assert!(ROWS.iter().any(|row| row.name == *name), "there is no command {name}");
    }
}
