//! A session with Cassandra and the statements prepared in it.

use std::sync::Arc;

use cluster::Unanswered;
use scylla::{
    client::{
        execution_profile::ExecutionProfile, session::Session, session_builder::SessionBuilder,
    },
    deserialize::row::DeserializeRow,
    policies::load_balancing::DefaultPolicy,
    response::query_result::{QueryResult, QueryRowsResult},
    serialize::row::SerializeRow,
    statement::{Consistency, prepared::PreparedStatement},
};
use store::{Error, Kind};

use crate::{
    failure::{self, unanswered},
    options::Options,
    repeat::Repeat,
    statements::Statements,
    tls,
};

/// What requests are executed with.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) session: Session,
    pub(crate) statements: Statements,
}

impl Connection {
    /// Rows of a statement, or that something was done.
    pub(crate) async fn run(
        &self,
        statement: &PreparedStatement,
        values: impl SerializeRow,
    ) -> Result<QueryResult, Unanswered> {
        self.session.execute_unpaged(statement, values).await.map_err(unanswered)
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
}

/// A session by which nothing was asked yet.
pub(crate) async fn session(options: &Options) -> Result<Session, Error> {
    if options.contact_points.is_empty() {
        return Err(Error::new(Kind::Invalid, "no contact points of Cassandra are given"));
    }
    let mut near = DefaultPolicy::builder();
    if let Some(datacenter) = &options.datacenter {
        near = near.prefer_datacenter(datacenter.clone());
    }
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::Quorum)
        .request_timeout(Some(options.timeout))
        .load_balancing_policy(near.build())
        .retry_policy(Arc::new(Repeat))
        .build();
    let mut builder = SessionBuilder::new()
        .known_nodes(&options.contact_points)
        .default_execution_profile_handle(profile.into_handle())
        .connection_timeout(options.timeout)
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
    session.map_err(|error| failure::at_connect("Cassandra cannot be reached", error))
}
