//! Reads a container page by page; a resumed run continues at a continuation token.

use document::{DocBuf, Value, json};

use super::{Response, Service, item};
use crate::{
    endpoint::NoSqlAddress,
    extended::MAX_DEPTH,
    interfaces::{PAGE_DOCUMENTS, Page, SharedMonitor, Source},
};

/// A container as the source of documents.
#[derive(Debug)]
pub struct NoSqlSource {
    service: Service,
    /// The query; empty for all items.
    query: String,
    fields: Vec<String>,
    continuation: Option<String>,
    /// Resource id of the container.
    id: Option<String>,
}

impl NoSqlSource {
    /// Opens a container, which must exist, at its start or at the resume position of an earlier
    /// run. Without a query all items are read; `fields` are the properties to return besides `id`.
    pub fn open(
        address: &NoSqlAddress,
        (database, container): (&str, &str),
        query: &str,
        fields: Vec<String>,
        resume_position: Option<&str>,
        watch: SharedMonitor,
    ) -> Result<Self, String> {
        let service = Service::new(address, database, container, watch)?;
        let (query, continuation) = (query.to_owned(), resume_position.map(str::to_owned));
        let id = service.definition()?["_rid"].as_str().map(str::to_owned);
        Ok(Self { service, query, fields, continuation, id })
    }

    fn ask(&self) -> Result<Response, String> {
        let most = PAGE_DOCUMENTS.to_string();
        let mut headers = vec![("x-ms-max-item-count", most.as_str())];
        if let Some(continuation) = &self.continuation {
            headers.push(("x-ms-continuation", continuation));
        }
        if self.query.is_empty() {
            return self.service.read_feed(&headers);
        }
        headers.extend([
            ("content-type", "application/query+json"),
            ("x-ms-documentdb-isquery", "True"),
            ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ]);
        let body = serde_json::json!({ "query": self.query, "parameters": [] });
        self.service.post(body.to_string().as_bytes(), &headers)
    }
}

impl Source for NoSqlSource {
    fn collection_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn next_page(&mut self) -> Result<Page, String> {
        let answer = self.ask()?;
        if answer.status != 200 {
            return Err(answer.reason());
        }
        // The response nests the items two levels deeper than they are on their own.
        let body = json::parse_document(&answer.body, MAX_DEPTH + 2)
            .map_err(|error| format!("the server does not answer in JSON: {error}"))?;
        let Some(Value::Array(rows)) = body.get("Documents") else {
            return Err("the server's answer has no items".to_owned());
        };
        let documents: Result<Vec<DocBuf>, String> = rows
            .iter()
            .map(|row| match row.as_ref().as_document() {
                Some(row) => Ok(item::exported(row, &self.fields)),
                None => {
                    Err("--query returns values that are not objects: name them, as in SELECT \
                         VALUE {\"a\": c.a}"
                        .to_owned())
                }
            })
            .collect();
        self.continuation = answer.continuation;
        Ok(Page { documents: documents?, resume_position: self.continuation.clone() })
    }
}
