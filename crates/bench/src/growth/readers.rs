//! Readers of a growing collection, by id and by the index. Both check their results, so that fast
//! but wrong answers are reported as failures.

use document::ValueRef;
use fastrand::Rng;

use super::{
    COLLECTION,
    documents::{INDEXED, MATCHES},
};
use crate::{
    closed_loop::Worker,
    commands,
    connection::Connection,
    error::{Error, Result},
};

/// Reads single documents that never expire.
pub(super) struct PointReader {
    pub(super) count: u64,
    pub(super) rng: Rng,
}

impl Worker for PointReader {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let number = self.rng.u64(..self.count.div_ceil(2)) * 2;
        let id = ValueRef::Int64(number.cast_signed());
        let reply = link.call_command(commands::find_id(COLLECTION, id)).await?;
        if reply.read_batch()?.is_empty() {
            return Err(Error::Answer(format!("document {number} is missing")));
        }
        Ok(())
    }
}

/// Finds all documents with one value of the indexed field.
pub(super) struct Finder {
    pub(super) values: u64,
    pub(super) rng: Rng,
}

impl Worker for Finder {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        let value = self.rng.u64(..self.values);
        let wanted = ValueRef::Int64(value.cast_signed());
        let command = commands::find_equal(COLLECTION, INDEXED, wanted);
        let found = link.call_command(command).await?.read_batch()?.document_count();
        if (found as u64) < MATCHES {
            return Err(Error::Answer(format!(
                "too few documents with the value {value}: {found}"
            )));
        }
        Ok(())
    }
}
