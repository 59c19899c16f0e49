//! `ebb admin slow`: lists the slow operations of the last day through the admin address.

use clap::{ArgMatches, Command};
use serde_json::Value;

use super::listing::{api, text};
use crate::{
    client::Client,
    table::{Column, format_table},
};

pub(super) fn command() -> Command {
    Command::new("slow").about("Show the slow operations of the last day, newest first")
}

pub(super) fn ask(client: &Client, _: &ArgMatches) -> Result<Value, String> {
    client.get("/_ebb/slow")
}

pub(super) fn format_answer(answer: &Value) -> String {
    let Some(limit) = answer["threshold_ms"].as_u64() else {
        return "slow operations are not recorded: the server runs with --slow-ms off\n".to_owned();
    };
    let operations = answer["operations"].as_array().map_or(&[][..], Vec::as_slice);
    if operations.is_empty() {
        return format!("no operation of the last day took {limit} ms\n");
    }
    let row = |entry: &Value| {
        let namespace = format!("{}.{}", text(&entry["database"]), text(&entry["collection"]));
        vec![
            text(&entry["at"]),
            api(entry),
            text(&entry["operation"]),
            namespace.trim_matches('.').to_owned(),
            entry["duration_ms"].to_string(),
            entry["examined"].to_string(),
            entry["returned"].to_string(),
            text(&entry["plan"]),
            text(&entry["query"]),
        ]
    };
    let columns = [
        Column::Text("AT"),
        Column::Text("API"),
        Column::Text("OPERATION"),
        Column::Text("OF"),
        Column::Number("MS"),
        Column::Number("EXAMINED"),
        Column::Number("RETURNED"),
        Column::Text("PLAN"),
        Column::Text("QUERY"),
    ];
    format_table(&columns, &operations.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_and_the_lack_of_them() {
        let off = format_answer(&json!({ "threshold_ms": null, "operations": [] }));
        assert_eq!(off, "slow operations are not recorded: the server runs with --slow-ms off\n");
        let none = format_answer(&json!({ "threshold_ms": 100, "operations": [] }));
        assert_eq!(none, "no operation of the last day took 100 ms\n");
        let one = format_answer(&json!({ "threshold_ms": 100, "operations": [{
            "at": "2027-01-01T00:00:00.000Z", "api": "mongo", "operation": "find", "database": "app",
            "collection": "log", "duration_ms": 123, "examined": 4540, "returned": 3, "plan": "scan",
            "query": "{ find: \"log\" }"
        }] }));
        assert_eq!(
            one,
            "AT                        API      OPERATION  OF        MS  EXAMINED  RETURNED  PLAN  QUERY\n\
             2027-01-01T00:00:00.000Z  MongoDB  find       app.log  123      4540         3  scan  \
             { find: \"log\" }\n"
        );
    }
}
