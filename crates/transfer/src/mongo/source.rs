//! Reads a collection in the order of `_id`, so that a later run can resume after the last
//! document.

use document::{DocBuf, DocBuilder, ValueRef};
use mongo_client::commands::begin_command;

use super::{Connection, begin};
use crate::{
    endpoint::MongoAddress,
    extended::{Reading, Style, parse_document, write_document},
    interfaces::{PAGE_DOCUMENTS, Page, SharedMonitor, Source},
};

/// Query of an export from the MongoDB API.
#[derive(Clone, Debug, Default)]
pub struct Find {
    /// Name of the collection's database.
    pub database: String,
    /// Name of the collection to read.
    pub collection: String,
    /// Filter in Extended JSON; empty for all documents.
    pub filter: String,
    /// Fields to return besides `_id`; empty for all.
    pub fields: Vec<String>,
    /// Sort order in JSON; empty for the order of `_id`.
    pub order: String,
    /// Maximum number of documents; `None` reads all.
    pub limit: Option<u64>,
}

/// A collection as the source of documents.
#[derive(Debug)]
pub struct MongoSource {
    connection: Connection,
    find: Find,
    filter: DocBuf,
    order: DocBuf,
    /// The open cursor; `None` before the first page.
    cursor: Option<i64>,
    id: Option<String>,
}

impl MongoSource {
    /// Opens a collection at its start, or at the resume position of an earlier run.
    pub fn open(
        address: &MongoAddress,
        find: Find,
        resume_position: Option<&str>,
        watch: SharedMonitor,
    ) -> Result<Self, String> {
        let of = |name: &str, text: &str| match text.is_empty() {
            true => Ok(DocBuf::default()),
            false => parse_document(text.as_bytes(), Reading::Extended)
                .map_err(|error| format!("--{name} is not a document: {error}")),
        };
        let filter = of("query", &find.filter)?;
        let order = of("sort", &find.order)?;
        let filter = match resume_position {
            None => filter,
            Some(resume_position) => behind(&filter, resume_position)?,
        };
        let mut connection = Connection::open(address, watch)?;
        let id = check_there(&mut connection, &find)?;
        Ok(Self { connection, find, filter, order, cursor: None, id })
    }

    fn find_command(&self, body: &mut DocBuilder) {
        let find = &self.find;
        begin("find", &find.database, &find.collection)(body);
        body.append("filter", ValueRef::Document(self.filter.as_ref()));
        match find.order.is_empty() {
            true => body.document("sort", |sort| sort.append("_id", ValueRef::Int32(1))),
            false => body.append("sort", ValueRef::Document(self.order.as_ref())),
        }
        if !find.fields.is_empty() {
            body.document("projection", |wanted| {
                find.fields.iter().for_each(|name| wanted.append(name, ValueRef::Int32(1)));
            });
        }
        if let Some(limit) = find.limit.and_then(|limit| i64::try_from(limit).ok()) {
            body.append("limit", ValueRef::Int64(limit));
        }
        body.append("batchSize", ValueRef::Int32(PAGE_DOCUMENTS));
    }
}

/// Returns the UUID of the collection, if the server returns it; fails if the collection does not
/// exist. Without this check, a mistyped name would result in an empty file, since `find` returns
/// nothing for a missing collection.
fn check_there(connection: &mut Connection, find: &Find) -> Result<Option<String>, String> {
    // A user with only read access to the collection may not list collections, except for the names
    // of those it may read; so this is tried second.
    let mut is_missing = false;
    for name_only in [false, true] {
        let (database, collection) = (&find.database, &find.collection);
        let listed = connection.try_call(
            |body| {
                begin_command(body, "listCollections", ValueRef::Int32(1), database);
                body.document("filter", |filter| {
                    filter.append("name", ValueRef::String(collection));
                });
                body.append("nameOnly", ValueRef::Bool(name_only));
                body.append("authorizedCollections", ValueRef::Bool(name_only));
                body.document("cursor", |_| {});
            },
            None,
        )?;
        let Some(batch) = listed.ok().and_then(|reply| reply.read_batch().ok()) else { continue };
        let Some(found) = batch.iter_documents().next() else {
            is_missing = true;
            break;
        };
        let info = found.get("info").and_then(ValueRef::as_document);
        return Ok(match info.and_then(|info| info.get("uuid")) {
            Some(ValueRef::Binary { bytes, .. }) => {
                Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
            }
            _ => None,
        });
    }
    if !is_missing {
        return Ok(None);
    }
    // A user without read access should get the error about the missing privilege that `find`
    // returns, and not one about a missing collection.
    let (database, collection) = (&find.database, &find.collection);
    let mut body = DocBuilder::new();
    begin("find", database, collection)(&mut body);
    body.append("limit", ValueRef::Int32(1));
    connection.call(|out| *out = body, None)?;
    Err(format!("there is no collection {collection} in the database {database}"))
}

/// Returns a filter for the documents that match `filter` and follow the `_id` in a resume
/// position, in the order of ids of all types.
fn behind(filter: &DocBuf, resume_position: &str) -> Result<DocBuf, String> {
    let resume_position = parse_document(resume_position.as_bytes(), Reading::Extended);
    let resume_position = resume_position
        .map_err(|error| format!("the saved state of the run is damaged: {error}"))?;
    let id =
        resume_position.get("_id").ok_or("the saved state of the run is damaged: it has no _id")?;
    let mut both = DocBuilder::new();
    both.array("$and", |both| {
        both.push(ValueRef::Document(filter.as_ref()));
        // `$gt` in a filter only matches values of the same type; within `$expr` it compares all
        // types.
        both.document(|second| {
            second.document("$expr", |compared| {
                compared.array("$gt", |sides| {
                    sides.push(ValueRef::String("$_id"));
                    sides.document(|literal| literal.append("$literal", id));
                });
            });
        });
    });
    Ok(both.finish())
}

impl Source for MongoSource {
    fn collection_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn next_page(&mut self) -> Result<Page, String> {
        let mut body = DocBuilder::new();
        match self.cursor {
            None => self.find_command(&mut body),
            Some(cursor) => {
                begin_command(&mut body, "getMore", ValueRef::Int64(cursor), &self.find.database);
                body.append("collection", ValueRef::String(&self.find.collection));
                body.append("batchSize", ValueRef::Int32(PAGE_DOCUMENTS));
            }
        }
        let reply = self.connection.call(|out| *out = body, None)?;
        let batch = reply.read_batch().map_err(|error| error.to_string())?;
        let documents: Vec<DocBuf> = batch.iter_documents().map(|it| it.to_buf()).collect();
        self.cursor = Some(batch.cursor);
        let resume_position = match batch.cursor {
            0 => None,
            // An empty page has no resume position; the next page is requested.
            _ => Some(documents.last().and_then(|last| last.get("_id")).map_or_else(
                String::new,
                |id| {
                    let mut resume_position = DocBuilder::new();
                    resume_position.append("_id", id);
                    let mut text = Vec::new();
                    write_document(resume_position.finish().as_ref(), Style::Canonical, &mut text);
                    String::from_utf8(text).unwrap_or_default()
                },
            )),
        };
        Ok(Page { documents, resume_position })
    }
}
