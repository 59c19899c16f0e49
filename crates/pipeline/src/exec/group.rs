//! Groups rows (`$group`). Keys are compared by their canonical encoding, so that equal numbers of
//! different types form one group; documents are read only as far as the expressions need.
//!
//! Groups are kept in memory in the order of their first rows. When memory runs out, groups that
//! use half of it are spilled as whole partitions of keys, and from then on rows of those
//! partitions are spilled, too (`spilling::partitions`). At the end of the input the groups in
//! memory are returned. Then each partition is read like an input: first the states of its groups,
//! then their rows. A partition that does not fit in memory is partitioned again by other bits of
//! the hash.
//!
//! ```text
//! rows --+--> groups in memory ----------------> returned first
//!        `--> partition 3: state, state, row, row --> read: groups in memory --> returned
//!        `--> partition 7: ...
//! ```

use std::{collections::HashMap, sync::Arc};

use document::{DocRef, Value, ValueRef};
use evaluation::{Context, Error, OperationMemory, memory_of};
use foldhash::fast::RandomState;

use super::{
    Meter, Row,
    group_fields::{GroupFields, MAX_GROUP_FIELDS, in_group},
    group_row::{group_row, new_states},
    operator::{Operator, Poll},
    spilling::{
        can_write, damaged_record,
        partitions::{PARTITIONS, Partition, Partitions, Reading, Record},
    },
};
use crate::{
    expr::{Env, Expr},
    group::{Field, GroupState},
};

/// The `$group` stage of a plan.
#[derive(Clone, Debug)]
pub struct Group {
    /// The expression of the group's key; a missing value counts as null.
    pub id: Expr,
    /// The fields computed for each group.
    pub fields: Vec<Field>,
}

/// The running `$group` stage. Rows are added to groups in memory; rows of other groups are spilled
/// and processed later, partition by partition.
#[derive(Debug)]
pub(super) struct GroupOperator {
    /// The stage of the plan, with the fields that it reads.
    group_fields: Arc<GroupFields>,
    /// Index into `groups` by key.
    index: HashMap<Box<[u8]>, usize, RandomState>,
    /// Groups in memory, in the order of their first rows.
    groups: Vec<MemoryGroup>,
    /// Memory of the groups in `groups`, in bytes.
    bytes: usize,
    /// Buffer for the encoded key of the current row.
    key: Vec<u8>,
    meter: Meter,
    /// Spilled groups of the input, or of the partition that is being read.
    written: Option<Partitions>,
    /// Partitions still to be read; partitions of deeper levels come last.
    partitions: Vec<Partition>,
    /// The partition that is being read.
    reading: Option<Reading>,
    /// Groups whose rows are being returned.
    done: Option<std::vec::IntoIter<MemoryGroup>>,
    /// Whether the input has ended.
    ended: bool,
}

#[derive(Debug)]
struct MemoryGroup {
    /// The key of the group, as in the first of its rows.
    id: Value,
    /// States of the computed fields.
    states: Vec<GroupState>,
    bytes: usize,
}

/// Name of the stage in error messages.
const STAGE: &str = "$group";

impl GroupOperator {
    pub(super) fn new(group: Group, operation_memory: &OperationMemory) -> Self {
        Self {
            group_fields: Arc::new(GroupFields::of_group(group)),
            index: HashMap::default(),
            groups: Vec::new(),
            bytes: 0,
            key: Vec::new(),
            meter: Meter::new(STAGE, operation_memory),
            written: None,
            partitions: Vec::new(),
            reading: None,
            done: None,
            ended: false,
        }
    }

    /// Returns the index of a key's group, creating it if it is new; `Err` with the partition if
    /// its groups are spilled.
    fn find_group(
        &mut self,
        id: ValueRef<'_>,
        context: &Context,
    ) -> Result<std::result::Result<usize, usize>, Error> {
        self.key.clear();
        context.encode_value(id, &mut self.key);
        if let Some(at) = self.index.get(self.key.as_slice()) {
            return Ok(Ok(*at));
        }
        if let Some(partition) = self.partition_of_key() {
            return Ok(Err(partition));
        }
        let states = new_states(&self.group_fields.group.fields, id, context)?;
        // Approximate memory of empty states and of the index entry.
        let bytes = self.key.len() + memory_of(id) + states.len() * 96 + 64;
        self.grow_by(bytes, context)?;
        // Freeing memory for the group may have spilled the groups of its partition.
        if let Some(partition) = self.partition_of_key() {
            self.bytes = self.bytes.saturating_sub(bytes);
            return Ok(Err(partition));
        }
        // The key is copied only for a new group.
        let at = self.groups.len();
        self.index.insert(self.key.clone().into_boxed_slice(), at);
        self.groups.push(MemoryGroup { id: id.to_value(), states, bytes });
        Ok(Ok(at))
    }

    /// Returns the partition of the current key, if its groups are spilled.
    fn partition_of_key(&self) -> Option<usize> {
        let written = self.written.as_ref()?;
        let partition = written.partition_of(&self.key);
        written.is_written(partition).then_some(partition)
    }

    /// Reserves more memory for the groups; spills some of them if there is not enough.
    fn grow_by(&mut self, bytes: usize, context: &Context) -> Result<(), Error> {
        self.bytes += bytes;
        if self.meter.is_scarce() && self.can_write(context) {
            // The remaining memory is left to operations that cannot spill.
            self.write_half(context)?;
        }
        while let Err(error) = self.meter.set_held(self.bytes + self.bytes_beside()) {
            self.make_room(error, context)?;
        }
        Ok(())
    }

    /// Returns the memory of file buffers, which is held in addition to the groups' memory.
    fn bytes_beside(&self) -> usize {
        let written = self.written.as_ref().map_or(0, Partitions::memory_bytes);
        written + self.reading.as_ref().map_or(0, Reading::memory_bytes)
    }

    /// Spills some groups after a failed reservation. If that is not possible, returns `error` as a
    /// failure of this stage.
    fn make_room(&mut self, error: Error, context: &Context) -> Result<(), Error> {
        if self.can_write(context) {
            return self.write_half(context);
        }
        Err(self.meter.refusal_of(error, &context.spill))
    }

    /// Returns whether spilling is possible and useful, which it is not for a single group.
    fn can_write(&self, context: &Context) -> bool {
        2 <= self.groups.len() && can_write(self.bytes, context)
    }

    /// Spills the groups that use half of the memory, the largest partitions first, so that few
    /// partitions are spilled.
    fn write_half(&mut self, context: &Context) -> Result<(), Error> {
        let mut written = match self.written.take() {
            Some(written) => written,
            None => Partitions::new(STAGE, self.reading.as_ref(), &context.spill)?,
        };
        // The memory that each partition would free.
        let mut sizes = [0; PARTITIONS];
        for (key, at) in &self.index {
            let held = self.groups.get(*at).map_or(0, |held| held.bytes);
            sizes.get_mut(written.partition_of(key)).into_iter().for_each(|size| *size += held);
        }
        // The largest partitions that together free half of the memory.
        let mut order: Vec<usize> = (0..PARTITIONS).collect();
        order.sort_by_key(|at| std::cmp::Reverse(sizes.get(*at)));
        let mut freed = 0;
        for partition in order {
            if freed < self.bytes.div_ceil(2) {
                written.write_from_now(partition);
                freed += sizes.get(partition).copied().unwrap_or(0);
            }
        }
        // The partitions are kept even after a failed write, since they own the file.
        let moved = self.write_groups(&mut written, context);
        self.written = Some(written);
        moved
    }

    /// Spills the groups of the partitions that are marked as spilled, and removes them from
    /// memory.
    fn write_groups(&mut self, written: &mut Partitions, context: &Context) -> Result<(), Error> {
        // Sorted by index, in the order of `groups`.
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

    /// Restores a spilled group. Its record precedes all of its rows, so the group is new here.
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
                    grown += state.restore_from(value, context).ok_or_else(damaged_record)?;
                }
                self.group_grew(at, grown, context)
            }
        }
    }

    /// Records that a group in memory has grown by `bytes`.
    fn group_grew(&mut self, at: usize, bytes: usize, context: &Context) -> Result<(), Error> {
        if let Some(held) = self.groups.get_mut(at) {
            held.bytes += bytes;
        }
        if bytes == 0 { Ok(()) } else { self.grow_by(bytes, context) }
    }

    /// Ends the current input. The groups in memory become the next results, and the spilled
    /// partitions are queued to be processed after them.
    fn settle_groups(&mut self) -> Result<(), Error> {
        // The index is no longer needed.
        self.index.clear();
        self.done = Some(std::mem::take(&mut self.groups).into_iter());
        if let Some(written) = self.written.take() {
            self.partitions.extend(written.finish_partitions()?);
        }
        Ok(())
    }

    /// Processes a record of the current partition, or opens the next one; returns false if no
    /// partition is left.
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
        let group_fields = Arc::clone(&self.group_fields);
        let group = &group_fields.group;
        let mut values = [None; MAX_GROUP_FIELDS];
        env.root.pick(&group_fields.names, &mut values);
        // Plain fields borrow from the row; other expressions are evaluated below.
        let value = |place: usize| values.get(place).copied().flatten();
        let found = match group_fields.id {
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
            // Unreachable: only spilled groups have a partition.
            (Err(_), None) => return Ok(()),
        };
        let Some(held) = self.groups.get_mut(at) else { return Ok(()) };
        let mut grown = 0;
        for ((field, place), state) in
            group.fields.iter().zip(&group_fields.inputs).zip(&mut held.states)
        {
            grown += match *place {
                Some(place) => field.add_value(state, value(place), &env)?,
                None => {
                    let failed = |error| in_group(error, &field.arguments.input);
                    field.add_row(state, &env).map_err(failed)?
                }
            };
        }
        self.group_grew(at, grown, context)
    }
}

impl Operator for GroupOperator {
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
                let row = group_row(
                    &held.id,
                    &self.group_fields.group.fields,
                    held.states,
                    &context.operation_memory,
                )?;
                return Ok(Poll::Row(row));
            }
            if self.done.take().is_some() {
                self.bytes = 0;
                self.meter.clear_held();
            }
            // The groups in memory have been returned; the next partition replaces them.
            if !self.read_partition(context)? {
                return Ok(Poll::Done);
            }
            if context.budget.is_due() {
                return Ok(Poll::Pause);
            }
        }
    }
}
