//! A session with Cassandra, its prepared statements, and their execution on several coordinators.

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
    coordinators::{CoordinatorPolicy, Coordinators},
    failure::{self, unanswered},
    options::Options,
    race::{AttemptTiming, race},
    retry::LedgerRetryPolicy,
    statements::Statements,
    tls,
};

/// Minimum delay without a reply after which a request is also sent to another coordinator.
const LATE: Duration = Duration::from_millis(100);
/// Minimum delay without a reply after which a request that takes longer is also sent to another
/// coordinator: lightweight transactions and serial reads, which take several rounds, and reads of
/// up to a few megabytes.
const LATE_LONG: Duration = Duration::from_millis(300);
/// Maximum number of coordinators to which a request is sent.
const ATTEMPTS: usize = 3;
/// Interval of keepalive probes, and the time without a response after which a connection is
/// closed.
const KEEPALIVE: (Duration, Duration) = (Duration::from_millis(1_100), Duration::from_secs(2));

/// A session and its prepared statements.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) session: Session,
    pub(crate) statements: Statements,
    pub(crate) coordinators: Arc<Coordinators>,
    pub(crate) timeout: Duration,
}

impl Connection {
    /// Executes an idempotent statement; if the reply is late, on another coordinator too.
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

    /// Reads a page of a statement's rows, starting at this paging state. Returns the page and the
    /// paging state of the next one.
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

    /// Executes a statement that returns rows.
    pub(crate) async fn rows(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryRowsResult, Unanswered> {
        self.run(statement, values).await?.into_rows_result().map_err(unanswered)
    }

    /// Executes a statement that returns at most one row.
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

    /// Executes a lightweight transaction; `was_applied` reads its result. With `again`, a
    /// transaction without a timely response is also sent to another coordinator: its condition
    /// prevents a second application.
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
        let delay = self.coordinators.late_after(least);
        let pace = AttemptTiming { delay, attempts, limit: self.timeout };
        let way = CoordinatorPolicy::new(&self.coordinators);
        let mut statement = statement.clone();
        statement.set_load_balancing_policy(Some(Arc::new(way.clone())));
        race(pace, || execute(statement.clone()), settles, || way.record_timeout()).await
    }
}

/// Returns the delay after which a statement's reply counts as late.
fn late(statement: &PreparedStatement) -> Duration {
    let is_serial = statement.get_consistency() == Some(Consistency::Serial);
    if is_serial { LATE_LONG } else { LATE }
}

/// Opens a session, and creates the state by which coordinators are selected for its requests.
pub(crate) async fn session(options: &Options) -> Result<(Session, Arc<Coordinators>), Error> {
    if options.contact_points.is_empty() {
        return Err(Error::new(Kind::Invalid, "no Cassandra contact points are given"));
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
        .retry_policy(Arc::new(LedgerRetryPolicy))
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
    let session = session.map_err(|error| failure::at_connect("cannot reach Cassandra", error))?;
    Ok((session, Coordinators::new(near)))
}
