//! Which built-in role may send which command: a page generated from the column `rights` of the
//! table and from the roles, so that changes of either are noticed. The compiler ensures that every
//! row has the column.

use std::{fmt::Write as _, path::PathBuf};

use document::{DocRef, Document, Value, array, doc};

use super::ROWS;
use crate::{
    access::{Privileges, RoleName, expand},
    command_row::CommandRow,
    rights::Rights,
    wire::{self, HEADER_BYTES, Header, Message, OpCode},
};

/// The database of the roles that exist once per database, to which the commands are sent, too.
const OWN: &str = "shop";

const HEAD: &str = "# Roles and commands of the MongoDB API

Printed from the table of commands and the built-in roles; a test keeps it true. *yes*: whoever has the
role may send the command, where the server asks for logins (`--mongo-auth`). The first five roles are
those of one database, and the command is sent to that database; the others are roles of `admin`. What
is sent is in braces where the arguments decide. `$external` users have the roles that they are given, as
all others. Commands that are not listed are open to everybody before a login: ";

/// Returns the variants of a command to check. A command has several if its arguments decide which
/// rights it requires.
fn bodies(row: &CommandRow) -> Vec<(&'static str, Document)> {
    let name = row.name;
    let command = |first: Value, arguments: Document| {
        let mut body = Document::new();
        body.push(name, first);
        for (name, value) in arguments {
            body.push(name, value);
        }
        body
    };
    let with = |arguments: Document| command("c".into(), arguments);
    let about = |arguments: Document| command(1.into(), arguments);
    let one = || about(Document::new());
    let role = || array![doc! { "role": "read", "db": OWN }];
    let privileges = || {
        let resource = doc! { "db": OWN, "collection": "" };
        array![doc! { "resource": resource, "actions": array!["find"] }]
    };
    match name {
        "update" => vec![
            ("", with(doc! { "updates": array![doc! { "q": doc! {} }] })),
            ("upsert", with(doc! { "updates": array![doc! { "upsert": true }] })),
        ],
        "insert" => vec![
            ("", with(doc! {})),
            ("bypassDocumentValidation", with(doc! { "bypassDocumentValidation": true })),
        ],
        "delete" => vec![
            ("", with(doc! {})),
            ("bypassDocumentValidation", with(doc! { "bypassDocumentValidation": true })),
        ],
        "findAndModify" => vec![
            ("update", with(doc! {})),
            ("upsert", with(doc! { "upsert": true })),
            ("remove", with(doc! { "remove": true })),
        ],
        "findandmodify" => vec![("update", with(doc! {}))],
        "bulkWrite" => {
            let space = array![doc! { "ns": format!("{OWN}.c") }];
            let op = |kind: &str| {
                let mut operation = Document::new();
                operation.push(kind, 0);
                about(doc! { "nsInfo": space.clone(), "ops": array![operation] })
            };
            vec![("insert", op("insert")), ("update", op("update")), ("delete", op("delete"))]
        }
        "aggregate" => {
            let stage = |stage: Document| array![stage];
            vec![
                ("", with(doc! { "pipeline": array![] })),
                ("$collStats", with(doc! { "pipeline": stage(doc! { "$collStats": doc! {} }) })),
                ("$indexStats", with(doc! { "pipeline": stage(doc! { "$indexStats": doc! {} }) })),
                (
                    "$currentOp, allUsers",
                    about(doc! {
                        "pipeline": stage(doc! { "$currentOp": doc! { "allUsers": true } }),
                    }),
                ),
                ("$out", with(doc! { "pipeline": stage(doc! { "$out": "d" }) })),
                ("$merge", with(doc! { "pipeline": stage(doc! { "$merge": "d" }) })),
                ("$documents", about(doc! { "pipeline": stage(doc! { "$documents": array![] }) })),
            ]
        }
        "explain" => vec![
            ("find", command(doc! { "find": "c" }.into(), doc! {})),
            ("delete", command(doc! { "delete": "c", "deletes": array![] }.into(), doc! {})),
        ],
        "renameCollection" => {
            let to = |to: &str| command(format!("{OWN}.c").into(), doc! { "to": to });
            vec![("in its database", to("shop.d")), ("to another", to("other.d"))]
        }
        "customAction" => {
            let action =
                |name: &'static str, arguments: Document| (name, command(name.into(), arguments));
            let on = |arguments: Document| {
                let mut all = doc! { "collection": "c" };
                arguments.into_iter().for_each(|(name, value)| all.push(name, value));
                all
            };
            let indexes =
                |label, name: &str| (label, command(name.into(), on(doc! { "indexes": array![] })));
            vec![
                action("CreateDatabase", doc! {}),
                action("UpdateDatabase", doc! {}),
                action("GetDatabase", doc! {}),
                action("CreateCollection", on(doc! {})),
                indexes("CreateCollection, indexes", "CreateCollection"),
                action("UpdateCollection", on(doc! {})),
                indexes("UpdateCollection, indexes", "UpdateCollection"),
                action("GetCollection", on(doc! {})),
            ]
        }
        "create" | "collMod" => vec![
            ("", with(doc! {})),
            ("viewOn", with(doc! { "viewOn": "d", "pipeline": array![] })),
        ],
        "shardCollection" => vec![("", command(format!("{OWN}.c").into(), doc! {}))],
        "enableSharding" => vec![("", command(OWN.into(), doc! {}))],
        "dataSize" => vec![("", command(format!("{OWN}.c").into(), doc! {}))],
        "listDatabases" => {
            vec![("", one()), ("all", about(doc! { "authorizedDatabases": false }))]
        }
        "listCollections" => vec![
            ("", one()),
            ("own", about(doc! { "nameOnly": true, "authorizedCollections": true })),
        ],
        "cloneCollectionAsCapped" => vec![("", with(doc! { "toCollection": "d" }))],
        "profile" => vec![("", one()), ("ask", command((-1).into(), doc! {}))],
        "currentOp" => vec![("", one()), ("own", about(doc! { "$ownOps": true }))],
        "ebbClock" => vec![("read", one()), ("move", about(doc! { "advanceSeconds": 1 }))],
        "createUser"
        | "updateUser"
        | "grantRolesToUser"
        | "revokeRolesFromUser"
        | "grantRolesToRole"
        | "revokeRolesFromRole" => vec![("", with(doc! { "roles": role() }))],
        "createRole" => vec![("", with(doc! { "roles": role(), "privileges": privileges() }))],
        "updateRole" | "grantPrivilegesToRole" | "revokePrivilegesFromRole" => {
            vec![("", with(doc! { "privileges": privileges() }))]
        }
        "usersInfo" => {
            vec![("", one()), ("all", command(doc! { "forAllDBs": true }.into(), doc! {}))]
        }
        "rolesInfo" => vec![("", one())],
        _ => match row.rights {
            Rights::Collection(_) => vec![("", with(doc! {}))],
            _ => vec![("", one())],
        },
    }
}

/// Returns the message that a driver would send.
pub(super) fn message(database: &str, body: &Document) -> Message {
    let mut body = body.clone();
    body.push("$db", database);
    let mut payload = vec![0; 5];
    payload.extend_from_slice(body.to_buf().bytes());
    let len = HEADER_BYTES + payload.len();
    let header = Header { len, request_id: 1, response_to: 0, code: OpCode::Msg as i32 };
    wire::parse_message(&header, payload).unwrap()
}

/// Returns whether privileges are sufficient for a command.
fn may_send(row: &'static CommandRow, body: &Document, privileges: &Privileges) -> bool {
    let database = if row.admin_only { "admin" } else { OWN };
    let message = message(database, body);
    let request = row.request(message.body(), database, &message);
    let needs = row.rights.needs(&request).unwrap();
    needs.iter().all(|need| need.is_met(privileges))
}

/// Returns the roles: their names and privileges.
fn roles() -> Vec<(&'static str, Privileges)> {
    let of = |names: &[&'static str], database: &str| -> Vec<(&'static str, Privileges)> {
        let role =
            |name: &&'static str| (*name, expand(&[RoleName::new(name, database)], |_| None).1);
        names.iter().map(role).collect()
    };
    let mut all = of(&["read", "readWrite", "dbAdmin", "userAdmin", "dbOwner"], OWN);
    all.extend(of(
        &[
            "readAnyDatabase",
            "readWriteAnyDatabase",
            "dbAdminAnyDatabase",
            "userAdminAnyDatabase",
            "clusterMonitor",
            "hostManager",
            "clusterManager",
            "clusterAdmin",
            "backup",
            "restore",
            "root",
        ],
        "admin",
    ));
    all
}

fn page() -> String {
    let open = ROWS.iter().filter(|row| row.before_login()).map(|row| format!("`{}`", row.name));
    let mut out = format!("{HEAD}{}.\n\n| command |", open.collect::<Vec<_>>().join(", "));
    let roles = roles();
    roles.iter().for_each(|(name, _)| write!(out, " {name} |").unwrap());
    writeln!(out, "\n|---|{}", "---|".repeat(roles.len())).unwrap();
    for row in ROWS.iter().filter(|row| !row.before_login()) {
        for (label, body) in bodies(row) {
            let label = if label.is_empty() { String::new() } else { format!(" {{{label}}}") };
            write!(out, "| `{}`{label} |", row.name).unwrap();
            for (_, privileges) in &roles {
                let cell = if may_send(row, &body, privileges) { " yes |" } else { " |" };
                out.push_str(cell);
            }
            out.push('\n');
        }
    }
    out
}

#[test]
fn the_page_of_roles_is_what_the_tables_say() {
    let path = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
        .join("../../docs/compat/mongodb-roles.md");
    if std::env::var_os("EBB_UPDATE").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "run EBB_UPDATE=1 cargo test -p mongo roles");
}

/// Rules that do not depend on the generated page: without privileges nothing is permitted, `root`
/// may do everything, and read-only roles change nothing.
#[test]
fn roles_permit_no_more_than_their_names_say() {
    let (nothing, roles) = (Privileges::new(), roles());
    let of = |name: &str| &roles.iter().find(|(known, _)| *known == name).unwrap().1;
    for row in ROWS {
        for (label, body) in bodies(row) {
            let told = format!("{} {label}", row.name);
            assert!(may_send(row, &body, of("root")), "{told}");
            let is_open = matches!(row.rights, Rights::Open | Rights::Login);
            let decides = matches!(row.rights, Rights::ByArguments(_));
            assert!(is_open || decides || !may_send(row, &body, &nothing), "{told}");
            let changes = !super::COMMANDS.changes_nothing(DocRef::Tree(&body));
            for reader in ["read", "readAnyDatabase", "clusterMonitor"] {
                assert!(
                    is_open || !changes || !may_send(row, &body, of(reader)),
                    "{reader}: {told}"
                );
            }
        }
    }
}
