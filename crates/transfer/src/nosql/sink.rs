//! Writes a container with one request per item and several requests at once. Items with the same
//! id are sent one after the other, in input order.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use document::{DocBuf, ObjectId, ValueRef};

use super::{
    Service,
    item::{body, partition_key, path_of},
};
use crate::{
    endpoint::NoSqlAddress,
    interfaces::{Mode, Outcome, SharedMonitor, Sink, with_field},
    nosql::WORKERS,
};

/// Text in the message of a server by which a conflict of ids is recognized.
const EXISTS: &str = "id already exists";

/// A container as the destination of documents.
#[derive(Debug)]
pub struct NoSqlSink {
    service: Service,
    paths: Vec<Vec<String>>,
    mode: Mode,
    /// Whether the import ends at the first refused item.
    ordered: bool,
}

impl NoSqlSink {
    /// Opens a container, which has to exist.
    pub fn open(
        address: &NoSqlAddress,
        database: &str,
        container: &str,
        mode: Mode,
        ordered: bool,
        watch: SharedMonitor,
    ) -> Result<Self, String> {
        if mode == Mode::Merge {
            return Err("--mode merge is for the MongoDB API; \
                        use --mode upsert, which replaces items"
                .to_owned());
        }
        let service = Service::new(address, database, container, watch)?;
        let definition = service.definition()?;
        let paths = definition["partitionKey"]["paths"].as_array().into_iter().flatten();
        let paths = paths.filter_map(|path| path.as_str()).map(path_of).collect();
        Ok(Self { service, paths, mode, ordered })
    }

    fn send(&self, item: &DocBuf, again: bool) -> Result<Outcome, String> {
        let item = item.as_ref();
        let key = partition_key(item, &self.paths);
        let mut headers =
            vec![("content-type", "application/json"), ("x-ms-documentdb-partitionkey", &key)];
        if self.mode == Mode::Upsert {
            headers.push(("x-ms-documentdb-is-upsert", "True"));
        }
        let answer = self.service.post(&body(item), &headers)?;
        match answer.status {
            201 => Ok(Outcome::Created),
            200 => Ok(Outcome::Replaced),
            // A violated unique key has the status 409, too, but counts as a refusal.
            409 if self.mode == Mode::Insert && answer.reason().contains(EXISTS) => {
                Ok(if again { Outcome::Created } else { Outcome::Existing(answer.reason()) })
            }
            400 | 409 | 412 | 413 => Ok(Outcome::Refused(answer.reason())),
            _ => Err(answer.reason()),
        }
    }

    /// Writes items one after the other.
    fn send_in_order(&self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String> {
        let mut outcomes = Vec::with_capacity(batch.len());
        for item in batch {
            let outcome = self.send(item, again)?;
            let ends = matches!(outcome, Outcome::Refused(_) | Outcome::Existing(_));
            outcomes.push(outcome);
            if ends {
                break;
            }
        }
        outcomes.resize(batch.len(), Outcome::Unsent);
        Ok(outcomes)
    }

    /// Writes items concurrently; each id is assigned to one worker.
    fn send_at_once(&self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String> {
        let mut shares: Vec<Vec<usize>> = vec![Vec::new(); WORKERS];
        for (at, item) in batch.iter().enumerate() {
            let mut hasher = DefaultHasher::new();
            item.get("id").and_then(ValueRef::as_str).hash(&mut hasher);
            let share = usize::try_from(hasher.finish() % WORKERS as u64).unwrap_or_default();
            shares[share].push(at);
        }
        let work = |share: &[usize]| -> Result<Vec<(usize, Outcome)>, String> {
            share.iter().map(|at| Ok((*at, self.send(&batch[*at], again)?))).collect()
        };
        let done: Vec<Result<Vec<(usize, Outcome)>, String>> = std::thread::scope(|scope| {
            let begun: Vec<_> = shares.iter().map(|share| scope.spawn(|| work(share))).collect();
            let lost = || Err("a worker has stopped".to_owned());
            begun.into_iter().map(|one| one.join().unwrap_or_else(|_| lost())).collect()
        });
        let mut outcomes = vec![Outcome::Unsent; batch.len()];
        for share in done {
            for (at, outcome) in share? {
                outcomes[at] = outcome;
            }
        }
        Ok(outcomes)
    }
}

impl Sink for NoSqlSink {
    fn with_id(&self, document: DocBuf, id: ObjectId) -> Result<DocBuf, String> {
        Ok(with_field(document, "id", ValueRef::String(&id.to_string())))
    }

    fn write(&mut self, batch: &[DocBuf], again: bool) -> Result<Vec<Outcome>, String> {
        match self.ordered {
            true => self.send_in_order(batch, again),
            false => self.send_at_once(batch, again),
        }
    }

    fn count(&mut self) -> Result<Option<u64>, String> {
        let headers = [
            ("content-type", "application/query+json"),
            ("x-ms-documentdb-isquery", "True"),
            ("x-ms-documentdb-query-enablecrosspartition", "True"),
        ];
        let query = br#"{"query":"SELECT VALUE COUNT(1) FROM c","parameters":[]}"#;
        let answer = self.service.post(query, &headers)?;
        // Azure Cosmos DB refuses this query without a partition: its SDKs query each partition.
        if answer.status != 200 || answer.continuation.is_some() {
            return Ok(None);
        }
        let body: Option<serde_json::Value> = serde_json::from_slice(&answer.body).ok();
        Ok(body.and_then(|body| body["Documents"][0].as_u64()))
    }
}
