//! The commands that frameworks and applications send at their start, and the replies that they
//! need. `docs/compat/frameworks.md` is generated from the tables;
//! `EBB_UPDATE=1 cargo test -p mongo frameworks` writes it.

mod applications;
mod mappers;

use std::{fmt::Write, path::PathBuf, sync::Arc};

use document::{DocRef, Document, Value, ValueRef, shell};
use mongo::{MongoApi, MongoDialect, Settings};
use test_kit::{Kit, Setup};

use crate::{client::Client, replies::run};

/// A framework, and the commands that it sends.
struct Framework {
    name: &'static str,
    /// Sentences about its needs, and about its limits here.
    about: &'static str,
    /// The commands, in their order, on an empty server.
    steps: fn() -> Vec<Step>,
}

/// A command and the reply that the framework needs.
struct Step {
    /// Purpose for which the framework runs the command.
    purpose: &'static str,
    command: Document,
    reply: Reply,
}

/// The reply that a framework needs.
enum Reply {
    /// A success with these values at these dotted paths.
    Has(Vec<(&'static str, Value)>),
    /// An error with this code and this part of its text.
    Error(i32, &'static str),
}

/// Returns a step that has to succeed.
fn step(purpose: &'static str, command: Document) -> Step {
    Step { purpose, command, reply: Reply::Has(Vec::new()) }
}

/// Returns a step whose reply needs these values at these paths.
fn step_with(
    purpose: &'static str,
    command: Document,
    values: impl IntoIterator<Item = (&'static str, Value)>,
) -> Step {
    Step { purpose, command, reply: Reply::Has(values.into_iter().collect()) }
}

/// Returns a step that has to fail.
fn step_refused(purpose: &'static str, command: Document, code: i32, text: &'static str) -> Step {
    Step { purpose, command, reply: Reply::Error(code, text) }
}

const HEAD: &str = "\
# Frameworks and applications on the MongoDB API

Commands that frameworks and applications send when they start and in first use, on an empty database, and the
replies that they need. A test sends each of them to the server, and this page is printed from its table. Commands
are shortened to what matters; drivers add fields such as `lsid`. [mongodb.md](mongodb.md) lists all commands,
options and operators.
";

fn frameworks() -> impl Iterator<Item = &'static Framework> {
    applications::TABLE.iter().chain(mappers::TABLE)
}

fn page() -> String {
    let mut out = HEAD.to_owned();
    for framework in frameworks() {
        write!(out, "\n## {}\n\n{}\n\n", framework.name, framework.about).unwrap();
        out.push_str("| | sends | needs |\n|---|---|---|\n");
        for step in (framework.steps)() {
            let command = shell(ValueRef::Document(DocRef::Tree(&step.command))).to_string();
            let reply = match &step.reply {
                Reply::Has(values) if values.is_empty() => "`ok: 1`".to_owned(),
                Reply::Has(values) => {
                    let value = |(path, value): &(&str, Value)| {
                        format!("`{path}: {}`", shell(value.as_ref()))
                    };
                    values.iter().map(value).collect::<Vec<_>>().join(", ")
                }
                Reply::Error(code, text) => format!("error {code}, \"{text}\""),
            };
            writeln!(out, "| {} | `{command}` | {reply} |", step.purpose).unwrap();
        }
    }
    out
}

/// Returns the value at a dotted path, whose parts may be positions in arrays.
fn value_at<'a>(reply: &'a Document, path: &str) -> Option<ValueRef<'a>> {
    let mut value = ValueRef::Document(DocRef::Tree(reply));
    for part in path.split('.') {
        value = match value {
            ValueRef::Document(fields) => fields.get(part)?,
            ValueRef::Array(values) => values.get(part.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

async fn check(framework: &Framework) {
    // The dialect of a server, which knows views and validators.
    let kit = Kit::new(Setup { dialect: Arc::new(MongoDialect), ..Setup::default() });
    let mut client = Client::of(MongoApi::new(kit.engine.clone(), Settings::default()));
    for step in (framework.steps)() {
        let about = format!("{}, {}: {:?}", framework.name, step.purpose, step.command);
        let reply = run(&mut client, step.command).await;
        let ok = reply.get("ok").and_then(|ok| document::Number::of(ok.as_ref()));
        let ok = ok.map(document::Number::to_f64);
        match step.reply {
            Reply::Has(values) => {
                assert_eq!(ok, Some(1.0), "{about}: {reply:?}");
                assert_eq!(reply.get("writeErrors"), None, "{about}: {reply:?}");
                for (path, wanted) in values {
                    let found = value_at(&reply, path);
                    let is_equal = found
                        .is_some_and(|found| document::compare(found, wanted.as_ref()).is_eq());
                    assert!(is_equal, "{about}, {path} is not {wanted:?}: {reply:?}");
                }
            }
            Reply::Error(code, text) => {
                assert_eq!(reply.get("code"), Some(&Value::Int32(code)), "{about}: {reply:?}");
                let message = reply.get("errmsg").and_then(|text| text.as_ref().as_str());
                assert!(message.unwrap_or_default().contains(text), "{about}: {reply:?}");
            }
        }
    }
}

#[tokio::test]
async fn each_gets_what_it_needs_at_its_start() {
    for framework in frameworks() {
        check(framework).await;
    }
}

#[test]
fn the_page_of_frameworks_is_what_the_tables_say() {
    let path = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
        .join("../../docs/compat/frameworks.md");
    if std::env::var_os("EBB_UPDATE").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "run EBB_UPDATE=1 cargo test -p mongo frameworks");
}
