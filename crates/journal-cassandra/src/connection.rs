//! A session with Cassandra and the statements prepared in it.

use std::{future::Future, sync::Arc, time::Duration};

use cluster::Unanswered;
use scylla::{
    client::{
        execution_profile::ExecutionProfile, session::Session, session_builder::SessionBuilder,
    },
    deserialize::row::DeserializeRow,
    policies::load_balancing::DefaultPolicy,
    response::{
        PagingState, PagingStateResponse,
        query_result::{QueryResult, QueryRowsResult},
    },
    serialize::row::SerializeRow,
    statement::{Consistency, prepared::PreparedStatement},
};
use store::{Error, Kind};

use crate::{
    coordinators::{Coordinators, Way},
    failure::{self, unanswered},
    options::Options,
    race::{Pace, race},
    repeat::Repeat,
    statements::Statements,
    tls,
};

/// After how long without an answer the same is asked of another node of Cassandra, at the least.
const LATE: Duration = Duration::from_millis(100);
/// The same of lightweight transactions and the reads that see them, which take several rounds, and of reads
/// of up to some megabytes.
const LATE_LONG: Duration = Duration::from_millis(300);
/// How many nodes of Cassandra a request is sent to at the most.
const ATTEMPTS: usize = 3;
/// How often a connection is tried, and how long it may take to answer until it is closed.
const KEEPALIVE: (Duration, Duration) = (Duration::from_millis(1_100), Duration::from_secs(2));

/// What requests are executed with.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) session: Session,
    pub(crate) statements: Statements,
    pub(crate) coordinators: Arc<Coordinators>,
    /// After how long a request counts as unanswered.
    pub(crate) timeout: Duration,
}

impl Connection {
    /// Executes a statement; where the answer is late, at another node too.
    pub(crate) async fn run(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryResult, Unanswered> {
        let (values, session) = (&values, &self.session);
        let execute = move |statement: PreparedStatement| async move {
            session.execute_unpaged(&statement, values).await.map_err(unanswered)
        };
        self.race(statement, (ATTEMPTS, late(statement)), execute, |_| true).await
    }

    /// Reads one page of a statement's rows from this state on, and where the next begins.
    pub(crate) async fn page(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
        from: &PagingState,
    ) -> Result<(QueryResult, PagingStateResponse), Unanswered> {
        let (values, session) = (&values, &self.session);
        let execute = move |statement: PreparedStatement| async move {
            let page = session.execute_single_page(&statement, values, from.clone()).await;
            page.map_err(unanswered)
        };
        self.race(statement, (ATTEMPTS, LATE_LONG), execute, |_| true).await
    }

    /// The rows of a statement that has some.
    pub(crate) async fn rows(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryRowsResult, Unanswered> {
        self.run(statement, values).await?.into_rows_result().map_err(unanswered)
    }

    /// The row of a statement that has at most one.
    pub(crate) async fn row<R>(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<Option<R>, Unanswered>
    where
        R: for<'frame> DeserializeRow<'frame, 'frame>,
    {
        self.rows(statement, values).await?.maybe_first_row().map_err(unanswered)
    }

    /// Executes a lightweight transaction; `was_applied` reads its answer. With `again`, a late one is asked of
    /// another node too: its condition keeps it from being applied twice.
    pub(crate) async fn swap(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
        again: bool,
        was_applied: impl Fn(&QueryRowsResult) -> Result<bool, Unanswered>,
    ) -> Result<bool, Unanswered> {
        let (values, session, was_applied) = (&values, &self.session, &was_applied);
        let execute = move |statement: PreparedStatement| async move {
            let answer = session.execute_unpaged(&statement, values).await.map_err(unanswered)?;
            was_applied(&answer.into_rows_result().map_err(unanswered)?)
        };
        let attempts = if again { ATTEMPTS } else { 1 };
        self.race(statement, (attempts, LATE_LONG), execute, |applied| *applied).await
    }

    async fn race<T, A: Future<Output = Result<T, Unanswered>>>(
        &self,
        statement: &PreparedStatement,
        (attempts, least): (usize, Duration),
        execute: impl Fn(PreparedStatement) -> A,
        settles: impl Fn(&T) -> bool,
    ) -> Result<T, Unanswered> {
        let delay = self.coordinators.patience(least);
        let pace = Pace { delay, attempts, limit: self.timeout };
        let way = Way::new(&self.coordinators);
        let mut statement = statement.clone();
        statement.set_load_balancing_policy(Some(Arc::new(way.clone())));
        race(pace, || execute(statement.clone()), settles, || way.note_late()).await
    }
}

/// After how long a statement's answer is late.
fn late(statement: &PreparedStatement) -> Duration {
    let is_serial = statement.get_consistency() == Some(Consistency::Serial);
    if is_serial { LATE_LONG } else { LATE }
}

/// A session by which nothing was asked yet, and what it knows of the nodes that it asks.
pub(crate) async fn session(options: &Options) -> Result<(Session, Arc<Coordinators>), Error> {
    if options.contact_points.is_empty() {
        return Err(Error::new(Kind::Invalid, "no contact points of Cassandra are given"));
    }
    let mut near = DefaultPolicy::builder();
    if let Some(datacenter) = &options.datacenter {
        near = near.prefer_datacenter(datacenter.clone());
    }
    let near = near.build();
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::Quorum)
        .request_timeout(Some(options.timeout))
        .load_balancing_policy(Arc::clone(&near))
        .retry_policy(Arc::new(Repeat))
        .build();
    let (keepalive, closes) = KEEPALIVE;
    let mut builder = SessionBuilder::new()
        .known_nodes(&options.contact_points)
        .default_execution_profile_handle(profile.into_handle())
        .connection_timeout(options.timeout)
        .keepalive_interval(keepalive)
        .keepalive_timeout(closes)
        .keyspaces_to_fetch([&options.keyspace])
        .fetch_full_schema_metadata(false);
    if let Some((user, password)) = &options.login {
        let password = password
            .text()
            .ok_or_else(|| Error::new(Kind::Invalid, "the password is not UTF-8"))?;
        builder = builder.user(user, password);
    }
    if let Some(files) = &options.tls {
        builder = builder.tls_context(Some(tls::config(files, &options.contact_points)?));
    }
    let session = builder.build().await;
    let session =
        session.map_err(|error| failure::at_connect("Cassandra cannot be reached", error))?;
    Ok((session, Coordinators::new(near)))
}
