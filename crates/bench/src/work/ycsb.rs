//! YCSB's core workloads A to F over `usertable`, with the shares and the choice of keys that its
//! definitions name.

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

/// The share of each operation in percent, and how keys are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mix {
    read: u32,
    update: u32,
    insert: u32,
    range: u32,
    read_modify_write: u32,
    /// Whether the newest keys are the likeliest, instead of scattered ones.
    latest: bool,
}

/// No operation at all, to be filled in.
const NOTHING: Mix =
    Mix { read: 0, update: 0, insert: 0, range: 0, read_modify_write: 0, latest: false };
/// Update heavy.
pub(super) const A: Mix = Mix { read: 50, update: 50, ..NOTHING };
/// Read mostly.
pub(super) const B: Mix = Mix { read: 95, update: 5, ..NOTHING };
/// Read only.
pub(super) const C: Mix = Mix { read: 100, ..NOTHING };
/// Read the latest.
pub(super) const D: Mix = Mix { read: 95, insert: 5, latest: true, ..NOTHING };
/// Short ranges.
pub(super) const E: Mix = Mix { range: 95, insert: 5, ..NOTHING };
/// Read, modify, write.
pub(super) const F: Mix = Mix { read: 50, read_modify_write: 50, ..NOTHING };

/// What one step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read,
    Update,
    Insert,
    Range,
    ReadModifyWrite,
}

impl Mix {
    /// Returns the operation for a number from 0 to 99: the shares lie one after another on that line.
    fn operation(self, number: u32) -> Operation {
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

/// Runs a mix. The keys are the target's, so that records inserted by one workload are there for the
/// next.
pub(super) async fn run(
    mix: Mix,
    target: &Target,
    plan: Plan,
    settings: &Settings,
) -> Result<Figures> {
    let keys = &target.users;
    closed_loop::run(target, plan, |worker| User {
        mix,
        keys: Arc::clone(keys),
        rng: settings.rng(worker),
        scrambled: Scrambled::default(),
        latest: Latest::new(if mix.latest { keys.count() } else { 1 }),
        concern: settings.sizes.concern(),
    })
    .await
}

/// One connection's share of the mix.
struct User {
    mix: Mix,
    keys: Arc<Keys>,
    rng: Rng,
    scrambled: Scrambled,
    latest: Latest,
    concern: Concern,
}

/// The collection of the records.
const USERS: &str = Dataset::Users.name();

impl Worker for User {
    async fn step(&mut self, link: &mut Connection) -> Result<()> {
        match self.mix.operation(self.rng.u32(0..100)) {
            Operation::Read => single::read(link, self.key()).await,
            Operation::Update => {
                let key = self.key();
                single::set_field(link, key, &mut self.rng, self.concern).await
            }
            Operation::Insert => {
                let number = self.keys.take();
                single::insert_user(link, number, &mut self.rng, self.concern).await?;
                // Only now may others read it.
                self.keys.acknowledge(number);
                Ok(())
            }
            Operation::Range => self.range(link).await,
            Operation::ReadModifyWrite => {
                let key = self.key();
                single::read(link, key).await?;
                single::set_field(link, key, &mut self.rng, self.concern).await
            }
        }
    }
}

impl User {
    /// Returns the key of the next operation, of a record that is there.
    fn key(&mut self) -> u64 {
        let count = self.keys.count();
        if self.mix.latest {
            self.latest.next(count, &mut self.rng)
        } else {
            self.scrambled.next(count, &mut self.rng)
        }
    }

    /// Reads a short range and expects at least its first record, in one batch.
    async fn range(&mut self, link: &mut Connection) -> Result<()> {
        let from = crate::records::user(self.key());
        let limit = self.rng.u64(1..=RANGE_MAX);
        let from = ValueRef::String(&from);
        let batch = link.call(commands::find_range(USERS, from, limit)).await?.batch()?;
        match (batch.len() as u64, batch.cursor) {
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
            let drawn: Vec<Operation> = (0..100).map(|n| mix.operation(n)).collect();
            for (operation, share) in want {
                let got = drawn.iter().filter(|held| **held == operation).count();
                assert_eq!(got, share, "{mix:?} {operation:?}");
            }
        }
    }
}
