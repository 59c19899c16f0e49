//! YCSB's core workloads A to F on the collection `usertable`, with the shares of operations and
//! the distributions of keys that YCSB defines.

use std::sync::Arc;

use document::ValueRef;
use fastrand::Rng;

use super::{Settings, single};
use crate::{
    closed_loop::{self, Plan, Worker},
    commands::{self, Concern},
    connection::Connection,
    error::{Error, Result},
    figures::Figures,
    keys::Keys,
    limits::RANGE_MAX,
    target::{Dataset, Target},
    zipf::{Latest, Scrambled},
};

/// The share of each operation in percent, and the key distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mix {
    /// Reads by `_id`, in percent; all shares add up to 100.
    read: u32,
    update: u32,
    insert: u32,
    /// Reads of up to [`RANGE_MAX`] records in key order.
    range: u32,
    /// A read and an update of the same record. The two are one operation with one latency.
    read_modify_write: u32,
    /// Whether the newest keys are chosen most often. Otherwise the popular keys are scattered over
    /// all keys.
    latest: bool,
}

/// A mix without operations, to be filled in.
const NOTHING: Mix =
    Mix { read: 0, update: 0, insert: 0, range: 0, read_modify_write: 0, latest: false };
/// YCSB workload A, which is update heavy.
pub(super) const A: Mix = Mix { read: 50, update: 50, ..NOTHING };
/// YCSB workload B, which mostly reads.
pub(super) const B: Mix = Mix { read: 95, update: 5, ..NOTHING };
/// YCSB workload C, which only reads.
pub(super) const C: Mix = Mix { read: 100, ..NOTHING };
/// YCSB D, which reads the latest records.
pub(super) const D: Mix = Mix { read: 95, insert: 5, latest: true, ..NOTHING };
/// YCSB workload E, which scans short ranges.
pub(super) const E: Mix = Mix { range: 95, insert: 5, ..NOTHING };
/// YCSB F, which reads, modifies and writes each record.
pub(super) const F: Mix = Mix { read: 50, read_modify_write: 50, ..NOTHING };

/// The operation of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read,
    Update,
    Insert,
    Range,
    ReadModifyWrite,
}

impl Mix {
    /// Returns the operation for a random number from 0 to 99, by the cumulative shares.
    fn operation_at(self, number: u32) -> Operation {
        let mut below = 0;
        for (share, operation) in [
            (self.read, Operation::Read),
            (self.update, Operation::Update),
            (self.insert, Operation::Insert),
            (self.range, Operation::Range),
        ] {
            below += share;
            if number < below {
                return operation;
            }
        }
        Operation::ReadModifyWrite
    }
}

/// Runs a mix. The keys are stored in the target, so that a workload can use records that an
/// earlier workload has inserted.
pub(super) async fn run_mix(
    mix: Mix,
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let keys = &target.users;
    closed_loop::run_workers(target, plan, |worker| User {
        mix,
        keys: Arc::clone(keys),
        rng: settings.worker_rng(worker),
        scrambled: Scrambled::default(),
        latest: Latest::new(if mix.latest { keys.count_gapless() } else { 1 }),
        concern: settings.sizes.write_concern(),
    })
    .await
}

/// The worker of one connection.
struct User {
    mix: Mix,
    keys: Arc<Keys>,
    rng: Rng,
    /// Chooses keys whose popularity follows a scrambled Zipfian distribution.
    scrambled: Scrambled,
    /// Chooses among the newest keys, for mixes with `latest`. In other mixes it is unused and has
    /// a single key.
    latest: Latest,
    concern: Concern,
}

const USERS: &str = Dataset::Users.collection_name();

impl Worker for User {
    async fn run_step(&mut self, link: &mut Connection) -> Result<()> {
        match self.mix.operation_at(self.rng.u32(0..100)) {
            Operation::Read => single::read_user(link, self.choose_key()).await,
            Operation::Update => {
                let key = self.choose_key();
                single::set_field(link, key, &mut self.rng, self.concern).await
            }
            Operation::Insert => {
                let number = self.keys.take_number();
                single::insert_user(link, number, &mut self.rng, self.concern).await?;
                // Only now may other workers read the record.
                self.keys.acknowledge_number(number);
                Ok(())
            }
            Operation::Range => self.read_range(link).await,
            Operation::ReadModifyWrite => {
                let key = self.choose_key();
                single::read_user(link, key).await?;
                single::set_field(link, key, &mut self.rng, self.concern).await
            }
        }
    }
}

impl User {
    /// Returns the key of an acknowledged record.
    fn choose_key(&mut self) -> u64 {
        let count = self.keys.count_gapless();
        if self.mix.latest {
            self.latest.next_key(count, &mut self.rng)
        } else {
            self.scrambled.next_key(count, &mut self.rng)
        }
    }

    /// Reads a short range in one batch, which has to contain at least the first record of the
    /// range.
    async fn read_range(&mut self, link: &mut Connection) -> Result<()> {
        let from = crate::records::user_id(self.choose_key());
        let limit = self.rng.u64(1..=RANGE_MAX);
        let from = ValueRef::String(&from);
        let batch =
            link.call_command(commands::find_range(USERS, from, limit)).await?.read_batch()?;
        match (batch.document_count() as u64, batch.cursor) {
            (1.., 0) => Ok(()),
            (count, cursor) => Err(Error::Answer(format!(
                "{count} documents and cursor {cursor} from a range of {limit}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_mix() {
        use Operation::{Insert, Range, Read, ReadModifyWrite, Update};
        for (mix, want) in [
            (A, [(Read, 50), (Update, 50)]),
            (B, [(Read, 95), (Update, 5)]),
            (C, [(Read, 100), (Update, 0)]),
            (D, [(Read, 95), (Insert, 5)]),
            (E, [(Range, 95), (Insert, 5)]),
            (F, [(Read, 50), (ReadModifyWrite, 50)]),
        ] {
            let drawn: Vec<Operation> = (0..100).map(|n| mix.operation_at(n)).collect();
            for (operation, share) in want {
                let got = drawn.iter().filter(|held| **held == operation).count();
                assert_eq!(got, share, "{mix:?} {operation:?}");
            }
        }
    }
}
