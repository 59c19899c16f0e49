//! The prepared statements. Statements on entries are idempotent and may be retried by the driver;
//! changes of records are lightweight transactions and may not.

use scylla::{
    client::session::Session,
    statement::{Consistency, SerialConsistency, prepared::PreparedStatement},
};
use store::Error;

use crate::failure;

/// All statements of a ledger.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) read_cluster: PreparedStatement,
    pub(crate) make_cluster: PreparedStatement,
    pub(crate) replace_cluster: PreparedStatement,
    pub(crate) read_nodes: PreparedStatement,
    pub(crate) read_node: PreparedStatement,
    pub(crate) look_at_node: PreparedStatement,
    pub(crate) make_node: PreparedStatement,
    pub(crate) raise_node: PreparedStatement,
    pub(crate) beat: PreparedStatement,
    pub(crate) fence: PreparedStatement,
    pub(crate) forget: PreparedStatement,
    pub(crate) read_shard: PreparedStatement,
    pub(crate) read_shard_serial: PreparedStatement,
    pub(crate) make_shard: PreparedStatement,
    pub(crate) claim: PreparedStatement,
    pub(crate) confirm: PreparedStatement,
    pub(crate) open: PreparedStatement,
    pub(crate) release: PreparedStatement,
    pub(crate) set_base: PreparedStatement,
    pub(crate) append: PreparedStatement,
    pub(crate) read_entries: PreparedStatement,
    pub(crate) drop_segment: PreparedStatement,
    pub(crate) put_piece: PreparedStatement,
    pub(crate) load_piece: PreparedStatement,
    pub(crate) drop_piece: PreparedStatement,
}

/// Number of rows of a piece per page.
const ROWS_OF_A_PIECE: i32 = 8;
/// Columns of the cluster record in the order in which `records` reads them.
const CLUSTER: &str = "format, id, shards, clock, secret";
const NODE: &str = "node, incarnation, beat, state, about, terms";
const SHARD: &str = "shard, epoch, claim, node, incarnation, phase, opened, ends, clock, bases";
/// Replaces the list of a shard's bases (full copies) by a lightweight transaction.
const SET_BASE: &str = "UPDATE shards SET base = ?, bases = ? WHERE shard = ? IF base = ?";

impl Statements {
    /// Prepares all statements; fails with `Refused` if a table is missing or has other columns.
    pub(crate) async fn prepare(session: &Session, keyspace: &str) -> Result<Self, Error> {
        let maker = StatementBuilder { session, keyspace };
        let read_cluster = format!("SELECT {CLUSTER} FROM cluster WHERE one = 1");
        let read_node = format!("SELECT {NODE} FROM nodes WHERE node = ?");
        let read_shard = format!("SELECT {SHARD} FROM shards WHERE shard = ?");
        Ok(Self {
            read_cluster: maker.serial(&read_cluster).await?,
            make_cluster: maker
                .swap("INSERT INTO cluster (one, format, id, shards, clock, secret) VALUES (1, ?, ?, ?, ?, ?) IF NOT EXISTS")
                .await?,
            replace_cluster: maker
                .swap("UPDATE cluster SET format = ?, id = ?, shards = ?, clock = ?, secret = ? WHERE one = 1 IF id = ?")
                .await?,
            read_nodes: maker.quorum(&format!("SELECT {NODE} FROM nodes")).await?,
            read_node: maker.serial(&read_node).await?,
            look_at_node: maker.quorum(&read_node).await?,
            make_node: maker
                .swap("INSERT INTO nodes (node, incarnation, beat, state, about, terms) VALUES (?, 1, 0, 'up', ?, ?) IF NOT EXISTS")
                .await?,
            raise_node: maker
                .swap("UPDATE nodes SET incarnation = ?, beat = 0, state = 'up', about = ? WHERE node = ? IF incarnation = ?")
                .await?,
            beat: maker
                .swap("UPDATE nodes SET beat = ?, terms = ? WHERE node = ? IF incarnation = ? AND beat = ? AND state = 'up'")
                .await?,
            fence: maker
                .swap("UPDATE nodes SET state = 'fenced' WHERE node = ? IF incarnation = ? AND beat = ? AND state = 'up'")
                .await?,
            forget: maker
                .swap("UPDATE nodes SET state = 'fenced', about = 0x WHERE node = ? IF incarnation = ? AND beat = ?")
                .await?,
            read_shard: maker.quorum(&read_shard).await?,
            read_shard_serial: maker.serial(&read_shard).await?,
            make_shard: maker
                .swap(&format!("INSERT INTO shards ({SHARD}, base) VALUES (?, 0, ?, ?, 0, 'released', 0, ?, ?, ?, 0) IF NOT EXISTS"))
                .await?,
            claim: maker
                .swap("UPDATE shards SET epoch = ?, claim = ?, node = ?, incarnation = ?, phase = 'sealing', clock = ? WHERE shard = ? IF epoch = ?")
                .await?,
            confirm: maker
                .swap("UPDATE shards SET claim = ? WHERE shard = ? IF claim = ? AND phase = 'sealing'")
                .await?,
            open: maker
                .swap("UPDATE shards SET ends = ?, opened = ?, phase = 'open' WHERE shard = ? IF claim = ? AND phase = 'sealing'")
                .await?,
            release: maker
                .swap("UPDATE shards SET phase = 'released', clock = ? WHERE shard = ? IF claim = ? AND phase = 'open'")
                .await?,
            set_base: maker.swap(SET_BASE).await?,
            append: maker
                .quorum("INSERT INTO journal (shard, epoch, segment, n, part, body) VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP 1")
                .await?,
            read_entries: maker
                .quorum("SELECT n, part, body FROM journal WHERE shard = ? AND epoch = ? AND segment = ? AND n > ?")
                .await?,
            // Parts are written with timestamp 1, so the deletion also covers parts written later.
            drop_segment: maker
                .quorum("DELETE FROM journal USING TIMESTAMP 2 WHERE shard = ? AND epoch = ? AND segment = ?")
                .await?,
            put_piece: maker
                .quorum("INSERT INTO bases (shard, base, piece, n, body) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP 1")
                .await?,
            load_piece: maker
                .paged("SELECT n, body FROM bases WHERE shard = ? AND base = ? AND piece = ?")
                .await?,
            drop_piece: maker
                .quorum("DELETE FROM bases USING TIMESTAMP 2 WHERE shard = ? AND base = ? AND piece = ?")
                .await?,
        })
    }
}

/// Prepares statements whose table is written without its keyspace.
struct StatementBuilder<'a> {
    session: &'a Session,
    keyspace: &'a str,
}

impl StatementBuilder<'_> {
    async fn prepare(&self, text: &str) -> Result<PreparedStatement, Error> {
        let whole = qualified(text, self.keyspace);
        let prepared = self.session.prepare(whole).await;
        prepared.map_err(|error| {
            let doing = format!(
                "cannot use the tables of keyspace {} ('ebb admin cluster init' creates them)",
                self.keyspace
            );
            failure::at_connect(&doing, error)
        })
    }

    /// Prepares an idempotent statement at quorum consistency.
    async fn quorum(&self, text: &str) -> Result<PreparedStatement, Error> {
        let mut prepared = self.prepare(text).await?;
        prepared.set_consistency(Consistency::Quorum);
        prepared.set_is_idempotent(true);
        Ok(prepared)
    }

    /// Prepares an idempotent statement at quorum consistency that reads small pages: rows are
    /// large, and a page must not take long.
    async fn paged(&self, text: &str) -> Result<PreparedStatement, Error> {
        let mut prepared = self.quorum(text).await?;
        prepared.set_page_size(ROWS_OF_A_PIECE);
        Ok(prepared)
    }

    /// Prepares a read that sees every lightweight transaction acknowledged before it.
    async fn serial(&self, text: &str) -> Result<PreparedStatement, Error> {
        let mut prepared = self.prepare(text).await?;
        prepared.set_consistency(Consistency::Serial);
        prepared.set_is_idempotent(true);
        Ok(prepared)
    }

    /// Prepares a lightweight transaction whose result is on a quorum when it is acknowledged.
    async fn swap(&self, text: &str) -> Result<PreparedStatement, Error> {
        let mut prepared = self.prepare(text).await?;
        prepared.set_consistency(Consistency::Quorum);
        prepared.set_serial_consistency(Some(SerialConsistency::Serial));
        Ok(prepared)
    }
}

/// Inserts the keyspace before the table name, which follows `FROM`, `INTO` or `UPDATE`.
fn qualified(text: &str, keyspace: &str) -> String {
    for word in ["FROM ", "INTO ", "UPDATE "] {
        if let Some((before, after)) = text.split_once(word) {
            return format!("{before}{word}{keyspace}.{after}");
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_get_their_keyspace() {
        for (text, whole) in [
            ("SELECT a FROM b WHERE c = ?", "SELECT a FROM k.b WHERE c = ?"),
            ("INSERT INTO b (a) VALUES (?)", "INSERT INTO k.b (a) VALUES (?)"),
            ("UPDATE b SET a = ?", "UPDATE k.b SET a = ?"),
        ] {
            assert_eq!(qualified(text, "k"), whole);
        }
    }
}
