//! Rows in groups (`$group`). Keys are compared by their canonical encoding, so that equal numbers
//! of any type are one group; documents are read no further than the expressions need.
//!
//! Groups are in memory, in the order in which they came. When memory runs out, the groups that
//! hold half of it are written, whole partitions of keys at a time, and rows of those partitions
//! are written from then on, too (`spilling::partitions`). When the input has ended, the groups in
//! memory are returned; then each partition is read, as if its records were the input: first the
//! states that its groups had, then their rows. A partition that does not fit either is partitioned
//! again by other bits of the hash.
//!
//! ```text
//! rows --+--> groups in memory ----------------> returned first
//!        `--> partition 3: state, state, row, row --> read: groups in memory --> returned
//!        `--> partition 7: ...
//! ```

use std::{collections::HashMap, sync::Arc};

use document::{
    DocRef, Value, ValueRef,
    key::{TypeOrder, encode},
};
use evaluation::{Context, Error, Holding, memory_of};
use foldhash::fast::RandomState;

use super::{
    Meter, Row,
    group_error::in_group,
    group_row::{group_row, new_states},
    operator::{Operator, Poll},
    picked::{MAX_PICKED, Picked},
    spilling::{
        can_write, damaged_record,
        partitions::{PARTITIONS, Partition, Partitions, Reading, Record},
    },
};
use crate::{
    expr::{Env, Expr},
    group::{Field, GroupState},
};

/// What a group is, and what is computed of it.
#[derive(Clone, Debug)]
pub struct Group {
    /// The key; missing is null.
    pub id: Expr,
    /// The computed fields.
    pub fields: Vec<Field>,
}

/// A group, running. Rows go into the groups in memory; what those do not hold is written and read
/// later, partition by partition.
#[derive(Debug)]
pub(super) struct Grouping {
    /// What is computed, and of which fields.
    picked: Arc<Picked>,
    /// Where the group of each key stands among the groups.
    index: HashMap<Box<[u8]>, usize, RandomState>,
    /// Groups in memory, in the order in which they came.
    groups: Vec<HeldGroup>,
    /// Bytes of the groups in memory.
    bytes: usize,
    /// The key of the row under way, as bytes; kept to use its memory again.
    key: Vec<u8>,
    /// Counts what the groups hold.
    meter: Meter,
    /// Groups that memory did not hold, while the input lasts or a partition is read.
    written: Option<Partitions>,
    /// Partitions that were not read yet, those of later levels last.
    partitions: Vec<Partition>,
    /// The partition that is being read.
    reading: Option<Reading>,
    /// Groups that are being returned.
    done: Option<std::vec::IntoIter<HeldGroup>>,
    /// Whether all rows have come.
    ended: bool,
}

/// A group in memory: its key, what was computed so far, and the bytes of both.
#[derive(Debug)]
struct HeldGroup {
    /// The key, in the form in which it came first.
    id: Value,
    /// What was computed so far, by field.
    states: Vec<GroupState>,
    bytes: usize,
}

/// Its name in messages.
const STAGE: &str = "$group";

impl Grouping {
    /// A group stage that has seen no row.
    pub(super) fn new(group: Group, holding: &Holding) -> Self {
        Self {
            picked: Arc::new(Picked::of_group(group)),
            index: HashMap::default(),
            groups: Vec::new(),
            bytes: 0,
            key: Vec::new(),
            meter: Meter::new(STAGE, holding),
            written: None,
            partitions: Vec::new(),
            reading: None,
            done: None,
            ended: false,
        }
    }

    /// The position of a key's group, which is made if it is new. When its groups are not in memory
    /// it is `Err` with the partition.
    fn find_group(
        &mut self,
        id: ValueRef<'_>,
        context: &Context,
    ) -> Result<std::result::Result<usize, usize>, Error> {
        self.key.clear();
        encode(id, TypeOrder::Bson, false, &mut self.key);
        if let Some(at) = self.index.get(self.key.as_slice()) {
            return Ok(Ok(*at));
        }
        if let Some(partition) = self.partition_of_key() {
            return Ok(Err(partition));
        }
        let states = new_states(&self.picked.group.fields, id, context)?;
        // About what an empty state and the entry in the index take.
        let bytes = self.key.len() + memory_of(id) + states.len() * 96 + 64;
        self.grow_by(bytes, context)?;
        // Room for it may have been made by writing the groups of its partition.
        if let Some(partition) = self.partition_of_key() {
            self.bytes = self.bytes.saturating_sub(bytes);
            return Ok(Err(partition));
        }
        // The key is copied only now: most rows find a group that is there.
        let at = self.groups.len();
        self.index.insert(self.key.clone().into_boxed_slice(), at);
        self.groups.push(HeldGroup { id: id.to_value(), states, bytes });
        Ok(Ok(at))
    }

    /// The partition of the present key, when its groups are not in memory.
    fn partition_of_key(&self) -> Option<usize> {
        let written = self.written.as_ref()?;
        let partition = written.partition_of(&self.key);
        written.is_written(partition).then_some(partition)
    }

    /// Says that the groups in memory take `bytes` more; writes some of them where there is no
    /// room.
    fn grow_by(&mut self, bytes: usize, context: &Context) -> Result<(), Error> {
        self.bytes += bytes;
        if self.meter.is_scarce() && self.can_write(context) {
            // The rest is for those who cannot write what they hold.
            self.write_half(context)?;
        }
        while let Err(error) = self.meter.set_held(self.bytes + self.bytes_beside()) {
            self.make_room(error, context)?;
        }
        Ok(())
    }

    /// Bytes that are held beside the groups: buffers of files.
    fn bytes_beside(&self) -> usize {
        let written = self.written.as_ref().map_or(0, Partitions::memory_bytes);
        written + self.reading.as_ref().map_or(0, Reading::memory_bytes)
    }

    /// Writes some of the groups because of this failure to hold more; without a place for them it
    /// is the stage's failure.
    fn make_room(&mut self, error: Error, context: &Context) -> Result<(), Error> {
        if self.can_write(context) {
            return self.write_half(context);
        }
        Err(self.meter.refusal_of(error, &context.spill))
    }

    /// Whether there is a place for groups, and it would help to write some: a single group cannot
    /// be halved.
    fn can_write(&self, context: &Context) -> bool {
        2 <= self.groups.len() && can_write(self.bytes, context)
    }

    /// Writes the groups that hold half of the memory. The largest partitions go first, so that few
    /// of them are written.
    fn write_half(&mut self, context: &Context) -> Result<(), Error> {
        let mut written = match self.written.take() {
            Some(written) => written,
            None => Partitions::new(STAGE, self.reading.as_ref(), &context.spill)?,
        };
        // How much each partition would free.
        let mut sizes = [0; PARTITIONS];
        for (key, at) in &self.index {
            let held = self.groups.get(*at).map_or(0, |held| held.bytes);
            sizes.get_mut(written.partition_of(key)).into_iter().for_each(|size| *size += held);
        }
        // The largest ones, as many as hold half of it together.
        let mut order: Vec<usize> = (0..PARTITIONS).collect();
        order.sort_by_key(|at| std::cmp::Reverse(sizes.get(*at)));
        let mut freed = 0;
        for partition in order {
            if freed < self.bytes.div_ceil(2) {
                written.write_from_now(partition);
                freed += sizes.get(partition).copied().unwrap_or(0);
            }
        }
        // Also when writing failed: what was written belongs to it.
        let moved = self.write_groups(&mut written, context);
        self.written = Some(written);
        moved
    }

    /// Writes the groups of the partitions that are no longer to be in memory; the others move up.
    fn write_groups(&mut self, written: &mut Partitions, context: &Context) -> Result<(), Error> {
        // In the order of the groups, so that the two lists can be walked side by side.
        let mut index: Vec<(Box<[u8]>, usize)> = self.index.drain().collect();
        index.sort_unstable_by_key(|(_, at)| *at);
        let groups = std::mem::take(&mut self.groups);
        for ((key, _), held) in index.into_iter().zip(groups) {
            let partition = written.partition_of(&key);
            if written.is_written(partition) {
                self.bytes = self.bytes.saturating_sub(held.bytes);
                let states = held.states.into_iter().map(GroupState::into_saved).collect();
                written.write_group(partition, held.id, states, context)?;
            } else {
                self.index.insert(key, self.groups.len());
                self.groups.push(held);
            }
        }
        Ok(())
    }

    /// Takes a group as it was written. Its record comes before every row of its own, so that the
    /// group is new here.
    fn restore_group(
        &mut self,
        id: Value,
        saved: Vec<Value>,
        context: &Context,
    ) -> Result<(), Error> {
        match self.find_group(id.as_ref(), context)? {
            Err(partition) => match &mut self.written {
                Some(written) => written.write_group(partition, id, saved, context),
                None => Ok(()),
            },
            Ok(at) => {
                let mut grown = 0;
                let states = self.groups.get_mut(at).map(|held| &mut held.states);
                for (state, value) in states.into_iter().flatten().zip(saved) {
                    grown += state.restore_from(value).ok_or_else(damaged_record)?;
                }
                self.group_grew(at, grown, context)
            }
        }
    }

    /// Says that a group in memory has grown by so much.
    fn group_grew(&mut self, at: usize, bytes: usize, context: &Context) -> Result<(), Error> {
        if let Some(held) = self.groups.get_mut(at) {
            held.bytes += bytes;
        }
        if bytes == 0 { Ok(()) } else { self.grow_by(bytes, context) }
    }

    /// Everything was taken in: the groups in memory are returned, then those that were written.
    fn settle_groups(&mut self) -> Result<(), Error> {
        // No more rows come, so nobody looks for a key.
        self.index.clear();
        self.done = Some(std::mem::take(&mut self.groups).into_iter());
        if let Some(written) = self.written.take() {
            self.partitions.extend(written.finish_partitions()?);
        }
        Ok(())
    }

    /// Reads a record of the partition under way, or begins with the next one; false when there is
    /// none.
    fn read_partition(&mut self, context: &Context) -> Result<bool, Error> {
        let Some(reading) = &mut self.reading else {
            let Some(partition) = self.partitions.pop() else { return Ok(false) };
            self.reading = Some(partition.read_with(&mut self.meter)?);
            return Ok(true);
        };
        match reading.next_record(context)? {
            Some(Record::Group(id, states)) => self.restore_group(id, states, context)?,
            Some(Record::Row(row)) => self.take_row(row.as_ref(), context)?,
            None => {
                self.settle_groups()?;
                self.reading = None;
            }
        }
        Ok(true)
    }

    /// Adds a row to its group.
    fn take_row(&mut self, row: DocRef<'_>, context: &Context) -> Result<(), Error> {
        let env = Env::new(row, context);
        let picked = Arc::clone(&self.picked);
        let group = &picked.group;
        let mut values = [None; MAX_PICKED];
        env.root.pick(&picked.names, &mut values);
        // Values borrow from the row; an expression that is more than a field is evaluated below.
        let value = |place: usize| values.get(place).copied().flatten();
        // A plain field was read with the others; any other key is evaluated.
        let found = match picked.id {
            Some(place) => self.find_group(value(place).unwrap_or(ValueRef::Null), context)?,
            None => {
                let failed = |error| in_group(error, &group.id);
                self.find_group(
                    group.id.evaluate_borrowed(&env).map_err(failed)?.or_null(),
                    context,
                )?
            }
        };
        let at = match (found, &mut self.written) {
            (Ok(at), _) => at,
            (Err(partition), Some(written)) => return written.write_row(partition, row, context),
            // It cannot be: a partition is known only while some are written.
            (Err(_), None) => return Ok(()),
        };
        let Some(held) = self.groups.get_mut(at) else { return Ok(()) };
        let mut grown = 0;
        for ((field, place), state) in group.fields.iter().zip(&picked.inputs).zip(&mut held.states)
        {
            grown += match *place {
                Some(place) => field.add_value(state, value(place), &env)?,
                None => {
                    let failed = |error| in_group(error, &field.taken.input);
                    field.add_row(state, &env).map_err(failed)?
                }
            };
        }
        self.group_grew(at, grown, context)
    }
}

impl Operator for Grouping {
    fn accept_row(&mut self, row: Row, context: &Arc<Context>) -> Result<(), Error> {
        context.budget.spend(row.document.bytes().len() / 64)?;
        self.take_row(row.document.as_ref(), context)
    }

    fn is_gathering(&self) -> bool {
        !self.ended
    }

    fn end_of_input(&mut self, _: &Arc<Context>) -> Result<(), Error> {
        self.ended = true;
        self.settle_groups()
    }

    fn poll_row(&mut self, context: &Arc<Context>) -> Result<Poll, Error> {
        if !self.ended {
            return Ok(Poll::Need);
        }
        loop {
            if let Some(held) = self.done.as_mut().and_then(Iterator::next) {
                self.bytes = self.bytes.saturating_sub(held.bytes);
                let row =
                    group_row(&held.id, &self.picked.group.fields, held.states, &context.holding)?;
                return Ok(Poll::Row(row));
            }
            if self.done.take().is_some() {
                self.bytes = 0;
                self.meter.clear_held();
            }
            // Nothing in memory is left: the next partition fills it again.
            if !self.read_partition(context)? {
                return Ok(Poll::Done);
            }
            if context.budget.is_due() {
                return Ok(Poll::Pause);
            }
        }
    }
}
