//! The receipt of a committed transaction: written in the same commit, so that a repeated
//! `commitTransaction` is answered after a restart, too. It is the first page of the session's
//! receipts, which has the session's highest number.

use document::{DocBuf, DocBuilder, ValueRef};
use engine::{Effect, Engine, ReceiptPut, Receipts};

use super::{
    forget::written_at,
    page::{FIRST_PAGE, Page},
};
use crate::{errors::Result, session_set::SessionKey, transaction_table::too_old};

/// The highest number that the receipts of a session have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredNumber {
    pub(crate) number: i64,
    /// Whether it is that of a committed transaction.
    pub(crate) is_committed: bool,
    /// The sequence number of the commit that stored the receipt.
    stamp: u64,
}

/// Returns the highest number in the receipts of a session.
pub(crate) async fn stored_number(
    engine: &Engine,
    session: &SessionKey,
) -> Result<Option<StoredNumber>> {
    let id = Page::id_of(session, FIRST_PAGE);
    let Some(receipt) = engine.receipt(id.as_ref()).await? else { return Ok(None) };
    let page = Page::decode(&receipt.body)?;
    let (number, is_committed) = (page.number, page.is_transaction);
    Ok(Some(StoredNumber { number, is_committed, stamp: receipt.stamp }))
}

/// The receipt of a transaction that is being committed.
pub(crate) struct CommitReceipt {
    session: SessionKey,
    number: i64,
    /// Reading of the machine's clock that the receipt has to contain.
    wall_ms: Option<i64>,
    expected_stamp: Option<u64>,
    /// The fields by which change events name the transaction.
    identity: DocBuf,
}

impl CommitReceipt {
    /// Prepares the receipt. Fails with 225 if the session has used a higher number since the
    /// transaction began.
    pub(crate) async fn prepare(engine: &Engine, key: &SessionKey, number: i64) -> Result<Self> {
        let stored = stored_number(engine, key).await?;
        if let Some(stored) = stored.filter(|stored| number < stored.number) {
            return Err(too_old(number, stored.number));
        }
        let expected_stamp = stored.map(|stored| stored.stamp);
        let (wall_ms, identity) = (written_at(engine), identity_of(key, number));
        Ok(Self { session: *key, number, wall_ms, expected_stamp, identity })
    }
}

/// Returns the number and the session of a transaction as change events show them.
fn identity_of((id, user): &SessionKey, number: i64) -> DocBuf {
    let mut identity = DocBuilder::new();
    identity.append("txnNumber", ValueRef::Int64(number));
    identity.document("lsid", |lsid| {
        lsid.append("id", ValueRef::Binary { subtype: 4, bytes: id });
        lsid.append("uid", ValueRef::Binary { subtype: 0, bytes: user });
    });
    identity.finish()
}

impl Receipts for CommitReceipt {
    fn receipts_for(&self, _: Effect<'_>) -> std::result::Result<Vec<ReceiptPut>, engine::Error> {
        let id = Page::id_of(&self.session, FIRST_PAGE);
        let body = Some(Page::of_transaction(self.number).encode(&id, self.wall_ms));
        Ok(vec![ReceiptPut { id, expected_stamp: self.expected_stamp, body }])
    }

    fn record_commit(&self, _: u64) {}

    fn transaction_identity(&self) -> Option<&DocBuf> {
        Some(&self.identity)
    }
}
