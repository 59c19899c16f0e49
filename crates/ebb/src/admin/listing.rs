//! `ebb admin databases` and `ebb admin collections`: list the contents of a running server through
//! its admin address.

use clap::{Arg, ArgMatches, Command};
use serde_json::Value;

use crate::{
    client::{Client, escaped},
    table::{Column, format_table},
};

pub(super) fn databases_command() -> Command {
    Command::new("databases").about("Show the databases of both APIs")
}

pub(super) fn collections_command() -> Command {
    let database = Arg::new("database").value_name("DB").help("Only this database");
    Command::new("collections")
        .about("Show collections and containers: default TTL, live documents, expiry times")
        .arg(database)
}

pub(super) fn ask_databases(client: &Client, _: &ArgMatches) -> Result<Value, String> {
    client.get("/_ebb/databases")
}

/// Requests the collections. Fails if a named database exists in neither API.
pub(super) fn ask_collections(client: &Client, matches: &ArgMatches) -> Result<Value, String> {
    let database = matches.get_one::<String>("database");
    let argument = database.map(|name| format!("?database={}", escaped(name)));
    let answer = client.get(&format!("/_ebb/collections{}", argument.unwrap_or_default()))?;
    match database {
        Some(name) if answer["collections"].as_array().is_some_and(Vec::is_empty) => {
            let known = client.get("/_ebb/databases")?;
            let known = known["databases"].as_array().map_or(&[][..], Vec::as_slice);
            match known.iter().any(|entry| entry["database"].as_str() == Some(name)) {
                true => Ok(answer),
                false => Err(format!("there is no database {name}")),
            }
        }
        _ => Ok(answer),
    }
}

/// Returns the display name of an API.
pub(super) fn api(entry: &Value) -> String {
    match entry["api"].as_str() {
        Some("mongo") => "MongoDB".to_owned(),
        Some("nosql") => "NoSQL".to_owned(),
        other => other.unwrap_or_default().to_owned(),
    }
}

/// Returns a JSON string's text, or an empty text for any other value.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn format_databases(answer: &Value) -> String {
    let databases = answer["databases"].as_array().map_or(&[][..], Vec::as_slice);
    if databases.is_empty() {
        return "there is no database; 'ebb quickstart' creates a sample\n".to_owned();
    }
    let row = |entry: &Value| {
        let collections = entry["collections"].as_array().map_or(0, Vec::len);
        vec![api(entry), text(&entry["database"]), collections.to_string()]
    };
    let columns = [Column::Text("API"), Column::Text("DATABASE"), Column::Number("COLLECTIONS")];
    format_table(&columns, &databases.iter().map(row).collect::<Vec<_>>())
}

/// Formats a default TTL as text for a table.
pub(super) fn default_ttl(value: &Value) -> String {
    match value.as_i64() {
        None => "off".to_owned(),
        Some(-1) => "on, none".to_owned(),
        Some(seconds) => span(seconds),
    }
}

/// Formats seconds as flags accept them, such as `90d`, in the largest unit without a remainder.
fn span(seconds: i64) -> String {
    let units = [(86_400, 'd'), (3_600, 'h'), (60, 'm')];
    let whole = units.into_iter().find(|(unit, _)| 0 < seconds && seconds % unit == 0);
    let (unit, letter) = whole.unwrap_or((1, 's'));
    format!("{}{letter}", seconds / unit)
}

/// Describes how a collection's documents expire: by its default TTL and, if it has date indexes,
/// by date.
fn expires_by(entry: &Value) -> String {
    let default = default_ttl(&entry["default"]);
    let by_date = entry["date_indexes"].as_i64().unwrap_or_default() > 0;
    if by_date { format!("{default}, by date") } else { default }
}

pub(super) fn format_collections(answer: &Value) -> String {
    let collections = answer["collections"].as_array().map_or(&[][..], Vec::as_slice);
    if collections.is_empty() {
        return "there is no collection\n".to_owned();
    }
    let row = |entry: &Value| {
        let number =
            |pointer: &str| entry.pointer(pointer).map_or_else(String::new, Value::to_string);
        vec![
            api(entry),
            text(&entry["database"]),
            text(&entry["collection"]),
            expires_by(entry),
            number("/live/documents"),
            number("/live/bytes"),
            number("/dies_within/hour/documents"),
            number("/dies_within/day/documents"),
            number("/dies_within/week/documents"),
            number("/unreaped_estimate/documents"),
        ]
    };
    let columns = [
        Column::Text("API"),
        Column::Text("DATABASE"),
        Column::Text("COLLECTION"),
        Column::Text("DEFAULT TTL"),
        Column::Number("LIVE"),
        Column::Number("BYTES"),
        Column::Number("IN 1 H"),
        Column::Number("IN 1 D"),
        Column::Number("IN 7 D"),
        Column::Number("NOT REMOVED"),
    ];
    let note = "IN: how many expire within that time. NOT REMOVED: about how many have expired, \
                are invisible, and still use disk space.\n";
    format_table(&columns, &collections.iter().map(row).collect::<Vec<_>>()) + note
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use server::Config;

    use super::*;

    #[test]
    fn the_sample_is_listed() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        let none = databases_command().try_get_matches_from(["databases"]).unwrap();
        let empty = format_databases(&ask_databases(&client, &none).unwrap());
        assert_eq!(empty, "there is no database; 'ebb quickstart' creates a sample\n");
        client.post("/_ebb/quickstart").unwrap();
        let databases = format_databases(&ask_databases(&client, &none).unwrap());
        assert_eq!(
            databases,
            "API      DATABASE    COLLECTIONS\n\
             MongoDB  quickstart            1\n\
             NoSQL    quickstart            1\n"
        );
        let typed = |words: &[&str]| {
            let line = [&["collections"], words].concat();
            collections_command().try_get_matches_from(line).unwrap()
        };
        let nowhere = ask_collections(&client, &typed(&["no/ne"])).unwrap_err();
        assert_eq!(nowhere, "there is no database no/ne");
        for words in [&[][..], &["quickstart"]] {
            let typed = typed(words);
            let text = format_collections(&ask_collections(&client, &typed).unwrap());
            let rows =
                text.lines().filter(|line| line.contains("  quickstart  sessions  ")).count();
            assert_eq!(rows, 2, "{text}");
        }
        runtime.block_on(running.stop()).unwrap();
    }

    #[test]
    fn a_default_is_said_in_words() {
        for (value, want) in [
            (Value::Null, "off"),
            (json!(-1), "on, none"),
            (json!(1), "1s"),
            (json!(90), "90s"),
            (json!(60), "1m"),
            (json!(5_400), "90m"),
            (json!(129_600), "36h"),
            (json!(172_800), "2d"),
            (json!(i64::from(i32::MAX)), "2147483647s"),
        ] {
            assert_eq!(default_ttl(&value), want);
        }
        let by_date =
            |default: Value| expires_by(&json!({ "default": default, "date_indexes": 1 }));
        assert_eq!(by_date(Value::Null), "off, by date");
        assert_eq!(by_date(json!(60)), "1m, by date");
        assert_eq!(expires_by(&json!({ "default": 60, "date_indexes": 0 })), "1m");
    }
}
