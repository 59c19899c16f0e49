//! Writes a collection, in batches of inserts or updates that are durable before they are
//! acknowledged.

use document::{DocBuf, DocBuilder, DocRef, ObjectId, ValueRef};
use mongo_client::{Error, Sequence, whole_number};

use super::{Connection, begin};
use crate::{
    endpoint::MongoAddress,
    interfaces::{Mode, Outcome, SharedMonitor, Sink, with_field},
};

/// Error codes that concern a single document: its size, depth, fields or a duplicate key. Other
/// codes mean that the server accepts no writes at the moment, or none from this user.
const OF_DOCUMENTS: [i32; 17] =
    [2, 9, 14, 15, 16, 22, 28, 52, 53, 54, 55, 56, 57, 66, 10334, 11000, 17280];
/// Error code of a duplicate key.
const DUPLICATE: i32 = 11000;

/// A collection as the destination of documents.
#[derive(Debug)]
pub struct MongoSink {
    connection: Connection,
    database: String,
    collection: String,
    mode: Mode,
    /// Whether the import ends at the first refused document.
    ordered: bool,
}

impl MongoSink {
    /// Opens a collection, which need not exist.
    pub fn open(
        address: &MongoAddress,
        database: &str,
        collection: &str,
        mode: Mode,
        ordered: bool,
        watch: SharedMonitor,
    ) -> Result<Self, String> {
        let connection = Connection::open(address, watch)?;
        let (database, collection) = (database.to_owned(), collection.to_owned());
        Ok(Self { connection, database, collection, mode, ordered })
    }

    /// Sends documents, in as many commands as necessary, and returns their outcomes.
    fn send(&mut self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        match self.send_command(batch, again)? {
            Ok((mut outcomes, looked_at)) => {
                let rest = self.send(batch.get(looked_at..).unwrap_or_default(), again)?;
                outcomes.truncate(looked_at);
                outcomes.extend(rest);
                Ok(outcomes)
            }
            // The server refuses the command because of one of its documents, which is found by
            // sending the halves separately.
            Err(message) => {
                let (first, second) = batch.split_at(batch.len() / 2);
                if first.is_empty() {
                    return Ok(vec![Outcome::Refused(message)]);
                }
                let mut outcomes = self.send(first, again)?;
                let ends = |it: &Outcome| !matches!(it, Outcome::Created | Outcome::Replaced);
                if self.ordered && outcomes.iter().any(ends) {
                    outcomes.resize(batch.len(), Outcome::Unsent);
                } else {
                    outcomes.extend(self.send(second, again)?);
                }
                Ok(outcomes)
            }
        }
    }

    /// Sends one command. Returns the outcomes and how many documents the server has processed, or
    /// as the inner result the error by which it refuses the command because of a document.
    fn send_command(
        &mut self,
        batch: &[DocBuf],
        again: bool,
    ) -> Result<Result<(Vec<Outcome>, usize), String>, String> {
        let documents: Vec<DocBuf> =
            batch.iter().map(|document| self.operation(document)).collect();
        let insert = self.mode == Mode::Insert;
        let (command, field) = if insert { ("insert", "documents") } else { ("update", "updates") };
        let begin = begin(command, &self.database, &self.collection);
        let ordered = self.ordered;
        let fill = |body: &mut DocBuilder| {
            begin(body);
            body.append("ordered", ValueRef::Bool(ordered));
            body.document("writeConcern", |concern| {
                concern.append("w", ValueRef::Int32(1));
                concern.append("j", ValueRef::Bool(true));
            });
        };
        let sequence = Sequence { name: field, documents: &documents };
        let reply = match self.connection.try_call(fill, Some(sequence))? {
            Ok(reply) => reply,
            Err(Error::Server { code, message }) if OF_DOCUMENTS.contains(&code) => {
                return Ok(Err(message));
            }
            Err(Error::Server { message, .. }) => return Err(message),
            Err(broken) => return Err(broken.to_string()),
        };
        let of = |name: &str| {
            let all = reply.get_field(name).and_then(ValueRef::as_array);
            all.into_iter().flat_map(|all| all.iter()).filter_map(ValueRef::as_document)
        };
        let usual = if insert { Outcome::Created } else { Outcome::Replaced };
        let mut outcomes = vec![usual; batch.len()];
        for one in of("upserted") {
            if let Some(outcome) = place_of(one).and_then(|at| outcomes.get_mut(at)) {
                *outcome = Outcome::Created;
            }
        }
        for one in of("writeErrors") {
            let at = place_of(one);
            let outcome = at.and_then(|at| outcomes.get_mut(at));
            let outcome = outcome.ok_or("the server refused a document that was not sent")?;
            *outcome = refusal(one, again && insert)?;
            let ends = *outcome != Outcome::Created;
            if ordered && let Some(at) = at {
                // The server has not processed the documents that follow the refused one.
                if ends {
                    outcomes.iter_mut().skip(at + 1).for_each(|it| *it = Outcome::Unsent);
                    break;
                }
                return Ok(Ok((outcomes, at + 1)));
            }
        }
        Ok(Ok((outcomes, batch.len())))
    }

    /// Returns the element of the command that writes a document: the document itself or an update.
    fn operation(&self, document: &DocBuf) -> DocBuf {
        if self.mode == Mode::Insert {
            return document.clone();
        }
        let mut update = DocBuilder::new();
        let id = document.get("_id").unwrap_or(ValueRef::Null);
        // An explicit `$eq`, so that a regular expression as id is compared and not matched.
        update.document("q", |query| query.document("_id", |is| is.append("$eq", id)));
        match self.mode {
            Mode::Merge => update.document("u", |change| {
                change.document("$set", |set| {
                    let fields = document.as_ref().iter();
                    fields.filter(|it| it.0 != "_id").for_each(|(name, value)| {
                        set.append(name, value);
                    });
                });
            }),
            _ => update.append("u", ValueRef::Document(document.as_ref())),
        }
        update.append("upsert", ValueRef::Bool(true));
        update.finish()
    }

    /// Returns the reason why a document cannot be sent in the import's mode, if there is one.
    fn unfit(&self, document: &DocBuf) -> Option<String> {
        let mut names = document.as_ref().iter().map(|it| it.0);
        match self.mode {
            // In an update, the server would interpret such names as paths and operators.
            Mode::Merge => names
                .find(|name| name.contains('.') || name.starts_with('$') || name.is_empty())
                .map(|name| format!("a field with the name {name:?} cannot be merged")),
            // The server would interpret such a document as update operators instead of a
            // replacement.
            Mode::Upsert => names
                .next()
                .filter(|name| name.starts_with('$'))
                .map(|name| format!("a document that begins with {name:?} cannot be upserted")),
            Mode::Insert => None,
        }
    }
}

/// Returns the index in the batch to which an element of a reply refers.
fn place_of(one: DocRef<'_>) -> Option<usize> {
    whole_number(one.get("index")).and_then(|at| usize::try_from(at).ok())
}

/// Returns the outcome of a document for which the reply contains an error.
fn refusal(error: DocRef<'_>, again: bool) -> Result<Outcome, String> {
    let message = error.get("errmsg").and_then(ValueRef::as_str).unwrap_or("no reason given");
    let code = whole_number(error.get("code")).and_then(|code| i32::try_from(code).ok());
    let code = code.unwrap_or(0);
    if !OF_DOCUMENTS.contains(&code) {
        return Err(message.to_owned());
    }
    let pattern = error.get("keyPattern").and_then(ValueRef::as_document);
    let of_id = pattern.is_some_and(|it| it.get("_id").is_some() && it.len() == 1);
    Ok(match code == DUPLICATE && of_id {
        true if again => Outcome::Created,
        true => Outcome::Existing(message.to_owned()),
        false => Outcome::Refused(message.to_owned()),
    })
}

impl Sink for MongoSink {
    fn with_id(&self, document: DocBuf, id: ObjectId) -> Result<DocBuf, String> {
        if let Some(why) = self.unfit(&document) {
            return Err(why);
        }
        Ok(with_field(document, "_id", ValueRef::ObjectId(id)))
    }

    fn write(&mut self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String> {
        self.send(batch, again)
    }

    fn count(&mut self) -> Result<Option<u64>, String> {
        let begin = begin("count", &self.database, &self.collection);
        let reply = match self.connection.try_call(begin, None)? {
            Ok(reply) => reply,
            // A user with write access need not have read access.
            Err(_) => return Ok(None),
        };
        Ok(u64::try_from(reply.integer_field("n")).ok())
    }
}
