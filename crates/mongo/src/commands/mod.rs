//! The commands: one table, one row a command, and the way from a message to a row and back.

mod aggregate;
mod api;
mod bulk;
mod call;
mod catalog;
mod coll_mod;
mod count;
mod create_indexes;
mod cursor_reply;
mod delete;
mod diagnosis;
mod distinct;
mod drop_indexes;
mod ebb;
mod explain;
mod fail_point;
mod find;
mod find_and_modify;
mod get_more;
mod handshake;
mod index_seconds;
mod index_spec;
mod insert;
mod kill_cursors;
mod list;
mod operations;
mod parameters;
mod partial_filter;
mod reads;
mod server_status;
mod sessions;
mod stats;
mod table;
mod update;

pub(crate) use call::Call;
pub(crate) use fail_point::FailPoint;
pub(crate) use reads::changes_nothing;
pub use table::{CommandRow, NOT_YET, table};
pub(crate) use table::{Row, Table};

use std::sync::{Arc, atomic::Ordering::Relaxed};

use document::{DocBuf, DocBuilder, Document, ValueRef};
use engine::Store;

use crate::{
    args::{Args, GENERIC},
    door::Counters,
    errors::{CommandNotFound, Error, Result},
    operation::Running,
    session::Generic,
    wire::Message,
};

/// What a message is answered with.
pub(crate) enum Answer {
    Reply(DocBuf),
    /// The connection is closed instead.
    Hang,
}

/// Runs the command of a message.
pub(crate) async fn run<S: Store>(call: &Call<'_, S>) -> Answer {
    match fail_point::check(call) {
        fail_point::Verdict::Go => {}
        fail_point::Verdict::Hang => return Answer::Hang,
        fail_point::Verdict::Fail(reply) => return Answer::Reply(reply),
        fail_point::Verdict::Block(time) => block(time).await,
    }
    let reply = match dispatch(call).await {
        Ok(reply) => reply,
        Err(error) => error.reply().to_buf(),
    };
    Answer::Reply(fail_point::decorate(call, reply))
}

/// Whether a command of this name asks who the server is.
pub(crate) fn is_hello(name: &str) -> bool {
    matches!(name, "hello" | "isMaster" | "ismaster")
}

#[expect(clippy::disallowed_methods, reason = "these are waits by request, of no effect")]
async fn block(time: std::time::Duration) {
    tokio::time::sleep(time).await;
}

async fn dispatch<S: Store>(call: &Call<'_, S>) -> Result<DocBuf> {
    let Some((at, row)) = call.door.commands.get(call.name) else {
        return Err(unknown(call.name));
    };
    Counters::add(&call.connection.counters.command, 1);
    let args = call.args().noted();
    api::check(call.name, &args)?;
    check_fields(call, row.fields)?;
    if row.admin && call.database != "admin" {
        let message = format!("{} may only be run against the admin database.", row.name);
        return Err(Error::new(crate::errors::Unauthorized, message));
    }
    let generic = Generic::read(&args)?;
    let began = clock::monotonic();
    call.operation.end_at(generic.deadline);
    let _begun = call.connection.begin(Running {
        id: call.door.operation_id(),
        name: row.name,
        command: call.message.own(call.body),
        began,
        operation: Arc::clone(&call.operation),
        cursor: None,
    });
    let reply = (row.run)(Call { generic, ..call.clone() }).await;
    if reply.is_err()
        && let Some(failed) = call.door.failed.get(*at)
    {
        failed.fetch_add(1, Relaxed);
    }
    // How long a client chose to wait for news says nothing about the server.
    if call.body.get("maxAwaitTimeMS").is_none() {
        call.door.latencies.observe(*at, clock::monotonic().saturating_sub(began));
    }
    reply
}

fn unknown(name: &str) -> Error {
    match table::NOT_YET.iter().find(|(known, _)| *known == name) {
        Some((_, of)) => {
            let message = format!("command '{name}' is not supported yet ({of})");
            Error::new(crate::errors::CommandNotSupported, message)
        }
        None => Error::new(CommandNotFound, format!("no such command: '{name}'")),
    }
}

/// The first field names the command; every other one has to be known.
fn check_fields<S: Store>(call: &Call<'_, S>, known: &[&str]) -> Result<()> {
    for (name, _) in call.body.iter().skip(1) {
        let known = known.contains(&name) || known.contains(&table::ANY) || GENERIC.contains(&name);
        if !known {
            let message = format!("BSON field '{}.{name}' is an unknown field.", call.name);
            return Err(Error::new(40415, message));
        }
    }
    Ok(())
}

/// A reply of these fields and `ok: 1`.
pub(crate) fn ok(mut fields: Document) -> Result<DocBuf> {
    fields.push("ok", 1.0);
    Ok(fields.to_buf())
}

/// Finishes a reply with `ok: 1`.
pub(crate) fn finish(mut reply: DocBuilder) -> DocBuf {
    reply.append("ok", ValueRef::Double(1.0));
    reply.finish()
}

impl<'a, S: Store> Call<'a, S> {
    /// The command's own arguments.
    pub(crate) fn args(&self) -> Args<'a> {
        Args::new(self.name, self.body)
    }
}

/// Handshakes and what carries credentials are never compressed.
pub(crate) fn is_never_compressed(message: &Message) -> bool {
    let name = message.body().iter().next().map_or("", |(name, _)| name);
    matches!(
        name,
        "hello"
            | "isMaster"
            | "ismaster"
            | "saslStart"
            | "saslContinue"
            | "getnonce"
            | "authenticate"
            | "createUser"
            | "updateUser"
    )
}
