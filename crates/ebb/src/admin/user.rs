//! `ebb admin user`: manages users of the MongoDB API on a running server through its admin
//! address. Users have rights through roles; the server checks whether a role is valid.
//!
//! ```text
//! ebb admin user list
//! ebb admin user add ann --role readWrite@shop --role read@logs
//! ebb admin user password ann
//! ebb admin user roles ann --role root
//! ebb admin user remove ann
//! ```
//!
//! Passwords are read from a file or from standard input, never from the command line, which is
//! visible to other users of the machine.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::{
    client::{Client, escaped},
    password::{parse_readable, password_flag, typed_password},
};

/// Default database of a user and of a role.
const DATABASE: &str = "admin";

pub(super) fn command() -> Command {
    let name = || Arg::new("name").value_name("USER").required(true);
    let database = || {
        Arg::new("db")
            .long("db")
            .value_name("DATABASE")
            .default_value(DATABASE)
            .help("The database that the user logs in to")
    };
    let roles = |required| {
        Arg::new("role")
            .long("role")
            .value_name("ROLE[@DATABASE]")
            .action(ArgAction::Append)
            .required(required)
            .help("A role of the user; may be repeated")
    };
    let readable = || password_flag().value_parser(parse_readable);
    let of_user = |name_of: &'static str, about: &'static str| {
        Command::new(name_of).about(about).arg(name()).arg(database())
    };
    Command::new("user")
        .about("Show and change users of the MongoDB API")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about("Show all users and their roles"))
        .subcommand(of_user("add", "Create a user").args([roles(false), readable()]))
        .subcommand(of_user("password", "Change a user's password").arg(readable()))
        .subcommand(of_user("roles", "Replace the roles of a user").arg(roles(true)))
        .subcommand(of_user("remove", "Remove a user"))
}

/// Executes the subcommand and returns the server's answer; fails with the message to show.
pub(super) fn run(client: &Client, matches: &ArgMatches) -> Result<Value, String> {
    let Some((what, matches)) = matches.subcommand() else { return Err(String::new()) };
    if what == "list" {
        return client.get("/_ebb/users");
    }
    let text = |id: &str| matches.get_one::<String>(id).cloned().unwrap_or_default();
    let (user, database) = (text("name"), text("db"));
    let path = format!("/_ebb/users/{}/{}", escaped(&database), escaped(&user));
    match what {
        "add" => {
            let password = typed_password(matches)?;
            let body = json!({
                "user": user,
                "database": database,
                "password": password,
                "roles": typed_roles(matches),
            });
            client.post_json("/_ebb/users", &body)
        }
        "password" => client.put_json(&path, &json!({ "password": typed_password(matches)? })),
        "roles" => client.put_json(&path, &json!({ "roles": typed_roles(matches) })),
        _ => client.delete(&path),
    }
}

/// Formats a list of users, one per line.
pub(super) fn format_answer(answer: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = |user: &Value| format!("{}@{}", text(&user["user"]), text(&user["database"]));
    let Some(users) = answer["users"].as_array() else {
        return format!("{}: done\n", name(answer));
    };
    if users.is_empty() {
        return "there is no user\n".to_owned();
    }
    let role = |role: &Value| format!("{}@{}", text(&role["role"]), text(&role["db"]));
    let roles = |user: &Value| {
        let roles = user["roles"].as_array().into_iter().flatten();
        roles.map(role).collect::<Vec<_>>().join(", ")
    };
    users.iter().map(|user| format!("{}: {}\n", name(user), roles(user))).collect()
}

/// Returns the roles given on the command line as `role` or `role@database`.
fn typed_roles(matches: &ArgMatches) -> Vec<Value> {
    let typed = matches.get_many::<String>("role").into_iter().flatten();
    let named = typed.map(|text| text.rsplit_once('@').unwrap_or((text, DATABASE)));
    named.map(|(role, database)| json!({ "role": role, "db": database })).collect()
}

#[cfg(test)]
mod tests {
    use server::Config;

    use super::*;

    fn typed(words: &[&str]) -> ArgMatches {
        command().try_get_matches_from([&["user"], words].concat()).unwrap()
    }

    #[test]
    fn users_are_made_shown_changed_and_removed() {
        let folder = std::env::temp_dir().join(format!("ebb-user-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let password = folder.join("password");
        std::fs::write(&password, "s3cret\n").unwrap();
        let password = password.to_str().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        let list = |client: &Client| format_answer(&run(client, &typed(&["list"])).unwrap());
        assert_eq!(list(&client), "there is no user\n");
        let add =
            ["add", "a/nn", "--role", "read@x", "--role", "root", "--password-file", password];
        let made = run(&client, &typed(&add)).unwrap();
        assert_eq!(format_answer(&made), "a/nn@admin: done\n");
        assert_eq!(list(&client), "a/nn@admin: read@x, root@admin\n");
        let again = run(&client, &typed(&add)).unwrap_err();
        assert_eq!(again, "User \"a/nn@admin\" already exists");
        run(&client, &typed(&["password", "a/nn", "--password-file", password])).unwrap();
        run(&client, &typed(&["roles", "a/nn", "--role", "readWrite@y"])).unwrap();
        assert_eq!(list(&client), "a/nn@admin: readWrite@y\n");
        let wrong = run(&client, &typed(&["roles", "a/nn", "--role", "nothing"])).unwrap_err();
        assert_eq!(wrong, "Could not find role: nothing@admin");
        run(&client, &typed(&["remove", "a/nn"])).unwrap();
        let gone = run(&client, &typed(&["remove", "a/nn"])).unwrap_err();
        assert_eq!(gone, "User 'a/nn@admin' not found");
        runtime.block_on(running.stop()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
