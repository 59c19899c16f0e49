//! Jobs: work on files that the owner runs on threads of its choice.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    body_file::BodyFile,
    error::{Error, Result},
    shared::{Claim, Shared},
    space::Space,
    table::Table,
    version::{Edit, TableList},
};

/// The purpose of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Removes the files of a dropped space.
    Forget,
    /// Merges tables into one level.
    Merge,
    /// Moves tables to another level without reading them.
    Move,
    /// Rewrites a body file without its dead bodies.
    Rewrite,
}

#[derive(Debug)]
pub(crate) enum Work {
    Forget,
    Merge(MergeWork),
    Move { tables: TableList, target: u8 },
    Rewrite(Arc<BodyFile>),
}

/// The tables of a merge and its target.
#[derive(Debug)]
pub(crate) struct MergeWork {
    /// Lists of tables with disjoint keys, the newest first.
    pub(crate) lists: Vec<TableList>,
    /// Level of the new tables, at least 1.
    pub(crate) target: u8,
}

/// Work that no other job does at the same time. A job that is dropped has changed nothing.
#[derive(Debug)]
pub struct Job {
    pub(crate) shared: Arc<Shared>,
    pub(crate) space: Arc<Space>,
    pub(crate) work: Work,
    /// Keeps other jobs from using the same files.
    pub(crate) _claim: Option<Claim>,
}

/// The result of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobReport {
    /// Bytes of the files that were read.
    pub read: u64,
    /// Bytes of the files that were written.
    pub written: u64,
    /// Whether the job has ended without a result, because the space was dropped or jobs were
    /// stopped.
    pub cancelled: bool,
}

impl MergeWork {
    /// Returns all tables of the merge.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.lists.iter().flat_map(|list| list.iter())
    }
}

impl Job {
    /// Returns the purpose of the job.
    pub fn kind(&self) -> JobKind {
        match self.work {
            Work::Forget => JobKind::Forget,
            Work::Merge(_) => JobKind::Merge,
            Work::Move { .. } => JobKind::Move,
            Work::Rewrite(_) => JobKind::Rewrite,
        }
    }

    /// Returns the number of the space.
    pub fn space(&self) -> u64 {
        self.space.number
    }

    /// Returns the bytes of the files that the job reads; its output is not larger.
    pub fn input_bytes(&self) -> u64 {
        match &self.work {
            Work::Forget | Work::Move { .. } => 0,
            Work::Merge(merge) => merge.tables().map(|table| table.meta.bytes).sum(),
            Work::Rewrite(body) => body.meta.bytes,
        }
    }

    /// Returns whether the job has to end early.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.shared.closing.load(Ordering::Relaxed) || self.space.is_dropped()
    }

    /// Makes the result of the job durable and visible, or removes the files that it has created.
    pub(crate) fn complete(&self, edits: Vec<Edit>, read: u64) -> Result<JobReport> {
        let written = |edit: &Edit| match edit {
            Edit::AddTable { meta, .. } => meta.bytes,
            Edit::SetBody { meta, .. } => meta.bytes,
            _ => 0,
        };
        let written = edits.iter().map(written).sum();
        let outcome = self.shared.edit(&self.space, edits.clone(), &[], |_| true);
        match outcome {
            Ok(Some(_)) => Ok(JobReport { read, written, cancelled: false }),
            Ok(None) => {
                self.shared.discard(&self.space, &edits);
                Ok(JobReport { read, written, cancelled: true })
            }
            Err(error) => {
                if !matches!(error, Error::Stopped(_)) {
                    self.shared.discard(&self.space, &edits);
                }
                Err(error)
            }
        }
    }

    /// Returns the report of a job that has ended early.
    pub(crate) fn cancelled() -> JobReport {
        JobReport { cancelled: true, ..JobReport::default() }
    }
}
