//! Running of jobs. Merging writes the versions that are still needed to new tables of the target
//! level.

use std::sync::Arc;

use crate::{
    error::Result,
    files::Caching,
    job::{Job, JobReport, MergeWork, Work},
    merge::{Merge, Source, retain},
    rewrite,
    run_cursor::RunCursor,
    table::Table,
    table_writer::TableWriter,
    tree::Tree,
    version::{Edit, tables_between},
};

/// Number of keys between two checks whether a job has to end early.
const KEYS_PER_CHECK: usize = 256;

impl Tree {
    /// Runs a job to its end. Its files are exchanged at once; readers continue with the old ones.
    /// After a failure nothing has changed, and [`pick`](Self::pick) may choose the same job again.
    pub fn run(&self, job: &Job) -> Result<JobReport> {
        job.shared.check_working()?;
        match &job.work {
            Work::Forget => {
                job.shared.forget(&job.space)?;
                let number = job.space.number;
                job.shared.dropped.lock().retain(|space| space.number != number);
                Ok(JobReport::default())
            }
            Work::Move { tables, target } => job.complete(moves(job, tables, *target), 0),
            Work::Merge(merge) => self.merge(job, merge),
            Work::Rewrite(body) => rewrite::run(job, body),
        }
    }

    fn merge(&self, job: &Job, work: &MergeWork) -> Result<JobReport> {
        let space = job.space.number;
        // All inputs are chosen, and the versions to keep are determined after that: a version that
        // is dropped was superseded for every snapshot that is open now or taken later.
        let retention = self.shared.pins.retention();
        let filter = self.shared.maker.hooks.filter(space);
        let version = Arc::clone(&job.space.load().version);
        let below = version.levels.get(usize::from(work.target)..).unwrap_or_default();
        let files = self.shared.files();
        let sources = work
            .lists
            .iter()
            .map(|list| RunCursor::forward(files, Caching::Bypass, list, b"").map(Source::Tables));
        let mut merge = Merge::new(sources.collect::<Result<_>>()?, true);
        let mut writer = TableWriter::new(&self.shared.maker, space, job.space.layout());
        let (mut versions, mut keys) = (Vec::new(), 0_usize);
        loop {
            merge.next_key(&mut versions)?;
            let Some(first) = versions.first() else { break };
            let key = first.key.clone();
            // Only deeper levels contain older versions: the inputs include all tables between the
            // upper level and the target that may have the key.
            let oldest = below.iter().all(|list| tables_between(list, &key, &key).is_empty());
            retain(&mut versions, &retention, filter.as_ref(), oldest);
            writer.add_key(&versions)?;
            keys += 1;
            if keys.is_multiple_of(KEYS_PER_CHECK) && job.is_cancelled() {
                return Ok(Job::cancelled());
            }
        }
        let remove = |table: &Arc<Table>| Edit::RemoveTable { space, table: table.meta.id };
        let mut edits: Vec<Edit> = work.tables().map(remove).collect();
        let add = |meta| Edit::AddTable { space, level: work.target, run: 0, meta };
        edits.extend(writer.finish()?.into_iter().map(add));
        job.complete(edits, job.input_bytes())
    }
}

/// Returns the edits that move tables to another level.
fn moves(job: &Job, tables: &[Arc<Table>], level: u8) -> Vec<Edit> {
    let space = job.space.number;
    let mut edits = Vec::new();
    for table in tables {
        edits.push(Edit::RemoveTable { space, table: table.meta.id });
        edits.push(Edit::AddTable { space, level, run: 0, meta: table.meta.clone() });
    }
    edits
}
