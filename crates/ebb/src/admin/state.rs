//! `ebb admin health` and `ebb admin connections`: a summary of a running server's state, and an
//! exit code for container health checks. `ebb admin status` shows the full state.

use clap::{ArgMatches, Command};
use serde_json::Value;

use crate::{
    client::Client,
    table::{Column, format_table},
};

pub(super) fn health_command() -> Command {
    Command::new("health")
        .about("Show whether the server serves operations; exits with 1 if it does not")
}

pub(super) fn connections_command() -> Command {
    Command::new("connections").about("Show how many connections are open, by API")
}

/// Requests the state, which needs no key.
pub(super) fn ask(client: &Client, _: &ArgMatches) -> Result<Value, String> {
    client.get("/status")
}

/// Returns whether the server's state says that it serves operations.
pub(super) fn is_served(answer: &Value) -> bool {
    answer["status"] == "ok"
}

/// Formats the server's state as lines of text.
pub(super) fn format_health(answer: &Value) -> String {
    let checks = answer["checks"].as_object().into_iter().flatten();
    let rows = checks
        .map(|(check, found)| vec![check.clone(), found.as_str().unwrap_or_default().to_owned()]);
    let columns = [Column::Text("CHECK"), Column::Text("FOUND")];
    let table = format_table(&columns, &rows.collect::<Vec<_>>());
    let state = match answer["reason"].as_str() {
        _ if is_served(answer) => "ok: operations are served".to_owned(),
        Some(reason) => format!("unavailable: {reason}"),
        None => "unavailable".to_owned(),
    };
    format!("{state}\n{table}")
}

/// Formats the numbers of connections as text.
pub(super) fn format_connections(answer: &Value) -> String {
    let number = |api: &str, name: &str| match &answer[api][name] {
        Value::Null => String::new(),
        number => number.to_string(),
    };
    let row = |name: &str, api: &str| {
        vec![name.to_owned(), number(api, "connections"), number(api, "cursors")]
    };
    let columns = [Column::Text("API"), Column::Number("CONNECTIONS"), Column::Number("CURSORS")];
    format_table(&columns, &[row("MongoDB", "mongo"), row("NoSQL", "nosql")])
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use server::Config;

    use super::*;

    #[test]
    fn a_running_server_is_healthy() {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let running = runtime.block_on(server::start(&Config::for_tests())).unwrap();
        let client = Client::new(running.admin().unwrap(), None);
        let typed = health_command().try_get_matches_from(["health"]).unwrap();
        let answer = ask(&client, &typed).unwrap();
        assert!(is_served(&answer), "{answer}");
        let text = format_health(&answer);
        assert!(
            text.starts_with("ok: operations are served\nCHECK   FOUND\nclock   ok\n"),
            "{text}"
        );
        assert_eq!(
            format_connections(&answer),
            "API      CONNECTIONS  CURSORS\nMongoDB            0        0\nNoSQL              0\n"
        );
        runtime.block_on(running.stop()).unwrap();
    }

    #[test]
    fn what_is_wrong_is_said_first() {
        let checks = json!({ "disk": "writes are refused", "clock": "ok" });
        let reason = "disk: writes are refused";
        let answer = json!({ "status": "unavailable", "reason": reason, "checks": checks });
        assert!(!is_served(&answer));
        let text = format_health(&answer);
        assert!(text.starts_with("unavailable: disk: writes are refused\n"), "{text}");
        assert!(text.contains("disk   writes are refused\n"), "{text}");
    }
}
