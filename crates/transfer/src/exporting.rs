//! Writes pages of documents to a file, which has a temporary name until it is complete. After each
//! page the file is synced and the state file records its length, so that a killed run can be
//! resumed after the last page.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::{
    files::{self, beside},
    format::Format,
    identity::ContentFingerprint,
    interfaces::{Page, RunMonitor, Source},
    state::{self, ExportState},
};

/// Suffix of the name of an export's state file.
const STATE: &str = ".export-state";
/// Suffix of the name of an output file that is not complete.
const PART: &str = ".export-part";

/// Source, format and destination of an export.
#[derive(Clone, Debug)]
pub struct Export {
    /// Identifies this export in the state file: server, collection, query and so on.
    pub job: String,
    /// The output file; `None` for standard output.
    pub file: Option<PathBuf>,
    /// Format in which documents are written.
    pub format: Format,
    /// Maximum number of documents; `None` exports all.
    pub limit: Option<u64>,
    /// Whether to resume an earlier run.
    pub resume: bool,
}

/// Counts of a completed export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of documents in the file.
    pub documents: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of the documents in the file that earlier runs wrote.
    pub earlier: u64,
    /// Whether an earlier run had completed the file, so that this run wrote nothing.
    pub was_whole: bool,
}

/// Runs an export. `open` opens the source at the resume position of an earlier run, with the
/// remaining limit. `report` is called before the state file is removed: if the run is killed in
/// between, the next run knows that the export is complete.
pub fn export(
    export: &Export,
    open: impl FnOnce(Option<&str>, Option<u64>) -> Result<Box<dyn Source>, String>,
    watch: &dyn RunMonitor,
    report: &mut dyn FnMut(&Exported),
) -> Result<(), String> {
    let job = format!("{} as {}", export.job, export.format.word());
    let Some(path) = &export.file else {
        let source = open(None, export.limit)?;
        let (state, mut out) = (ExportState::default(), io::stdout().lock());
        return copy(export, source, &mut out, state, watch, |_, _| Ok(())).map(drop);
    };
    let target = Target::of(path);
    let state = target.begin(export, job)?;
    let done = match state.is_finished {
        true => target.finish(&state)?,
        false => target.go_on(export, state, open, watch)?,
    };
    report(&done);
    state::remove(&target.state_path)
}

/// The output file of an export.
struct Target<'a> {
    path: &'a Path,
    /// Temporary path of the output file until it is complete.
    part: PathBuf,
    /// Path of the state file, next to the output file.
    state_path: PathBuf,
}

impl<'a> Target<'a> {
    fn of(path: &'a Path) -> Self {
        Self { path, part: beside(path, PART), state_path: beside(path, STATE) }
    }

    fn failed(&self) -> impl Fn(io::Error) -> String {
        |error| format!("cannot write {}: {error}", self.path.display())
    }

    /// Checks the files that an earlier run has left, and returns the state to start with.
    fn begin(&self, export: &Export, job: String) -> Result<ExportState, String> {
        let (path, part, state_path) =
            (self.path.display(), self.part.display(), self.state_path.display());
        let kept: Option<ExportState> = state::load(&self.state_path)?;
        let is_there = files::is_there(self.path);
        match kept {
            Some(kept) if export.resume && kept.job != job => Err(format!(
                "{state_path} belongs to a different export: use the same arguments, or remove it \
                 and {part}"
            )),
            Some(kept) if export.resume && (kept.is_finished || !is_there) => Ok(kept),
            _ if is_there => Err(format!(
                "{path} already exists, and no unfinished export belongs to it: remove it, or \
                 choose another name"
            )),
            Some(kept) if !kept.is_finished => Err(format!(
                "an export into {path} is unfinished: continue with --resume, or remove \
                 {state_path} and {part}"
            )),
            _ => Ok(ExportState { job, ..ExportState::default() }),
        }
    }

    /// Writes the documents that the file does not contain yet.
    fn go_on(
        &self,
        export: &Export,
        mut state: ExportState,
        open: impl FnOnce(Option<&str>, Option<u64>) -> Result<Box<dyn Source>, String>,
        watch: &dyn RunMonitor,
    ) -> Result<Exported, String> {
        let earlier = state.documents;
        let rest = export.limit.map(|limit| limit.saturating_sub(state.documents));
        let is_later = state.resume_position.is_some();
        let mut source = open(state.resume_position.as_deref(), rest)?;
        let id = source.collection_id().map(str::to_owned);
        if is_later && state.collection != id {
            return Err(format!(
                "the collection or container was dropped and created again since the earlier run: \
                 remove {} and {} to export the new one",
                self.state_path.display(),
                self.part.display()
            ));
        }
        state.collection = id;
        if !is_later {
            // The first page is read before a file is created, so that a refused request leaves no
            // file.
            let first = source.next_page()?;
            source = Box::new(StartedExport { first: Some(first), source });
        }
        let mut file = self.open_part(&state)?;
        let mut last = state.clone();
        let keep = |file: &mut File, state: Option<&ExportState>| -> Result<(), String> {
            file.sync_data().map_err(self.failed())?;
            let Some(state) = state else { return Ok(()) };
            let content = ContentFingerprint::up_to(file, state.bytes).map_err(self.failed())?;
            state::save(&self.state_path, &ExportState { content, ..state.clone() })
        };
        let done = copy(export, source, &mut file, state, watch, keep)?;
        (last.documents, last.bytes, last.is_finished) = (done.documents, done.bytes, true);
        last.content = ContentFingerprint::up_to(&file, done.bytes).map_err(self.failed())?;
        state::save(&self.state_path, &last)?;
        drop(file);
        files::publish(&self.part, self.path).map_err(self.failed())?;
        Ok(Exported { earlier, ..done })
    }

    /// Saves the state and opens the incomplete file, truncated to the length in the state.
    fn open_part(&self, state: &ExportState) -> Result<File, String> {
        state::save(&self.state_path, state)?;
        let failed = |error: io::Error| format!("cannot write {}: {error}", self.part.display());
        if state.bytes == 0 {
            return files::create_anew(&self.part).map_err(failed);
        }
        let file = files::open_own(&self.part, File::options().read(true).write(true));
        let mut file = file.map_err(failed)?;
        self.check_content(&file, &self.part, state)?;
        file.set_len(state.bytes).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(file)
    }

    /// Fails if the file does not start with the content that earlier runs have written.
    fn check_content(&self, file: &File, path: &Path, state: &ExportState) -> Result<(), String> {
        let wrong = |why: &dyn std::fmt::Display| {
            format!(
                "{} was changed since the earlier run: {why}. Remove it and {}, and start over",
                path.display(),
                self.state_path.display()
            )
        };
        let bytes = file.metadata().map_err(|error| wrong(&error))?.len();
        if bytes < state.bytes {
            return Err(wrong(&format!("it had {} bytes and has {bytes}", state.bytes)));
        }
        let now = ContentFingerprint::up_to(file, state.bytes).map_err(|error| wrong(&error))?;
        state.content.difference(&now).map_or(Ok(()), |why| Err(wrong(&why)))
    }

    /// Ends an export that an earlier run has completed; renames the file if that was not done yet.
    fn finish(&self, state: &ExportState) -> Result<Exported, String> {
        let is_named = files::is_there(self.path);
        let path = if is_named { self.path } else { &self.part };
        let file = files::open_own(path, File::options().read(true));
        let file = file.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        self.check_content(&file, path, state)?;
        match is_named {
            // The run may have been killed when the file had both names.
            true => files::remove(&self.part).map_err(self.failed())?,
            false => files::publish(&self.part, self.path).map_err(self.failed())?,
        }
        let ExportState { documents, bytes, .. } = *state;
        Ok(Exported { documents, bytes, earlier: documents, was_whole: true })
    }
}

/// A source whose first page was read already.
struct StartedExport {
    first: Option<Page>,
    source: Box<dyn Source>,
}

impl Source for StartedExport {
    fn collection_id(&self) -> Option<&str> {
        self.source.collection_id()
    }

    fn next_page(&mut self) -> Result<Page, String> {
        self.first.take().map_or_else(|| self.source.next_page(), Ok)
    }
}

/// Copies page by page; `keep` is called after each page with the state to resume from. After the
/// last page `keep` gets no state, because the source has no position to resume from: a run killed
/// there repeats that page. A state with the bytes of the last page and the position before that
/// page would duplicate it.
fn copy<W: Write>(
    export: &Export,
    mut source: Box<dyn Source>,
    out: &mut W,
    mut state: ExportState,
    watch: &dyn RunMonitor,
    keep: impl Fn(&mut W, Option<&ExportState>) -> Result<(), String>,
) -> Result<Exported, String> {
    let failed = |error: io::Error| format!("cannot write the export: {error}");
    let mut bytes = if state.bytes == 0 { export.format.head()? } else { Vec::new() };
    loop {
        if !watch.should_continue() {
            return Err(interrupted(export.file.is_some()));
        }
        let more = export.limit.is_none_or(|limit| state.documents < limit);
        let Page { documents, resume_position } = match more {
            true => match source.next_page() {
                Err(_) if !watch.should_continue() => {
                    return Err(interrupted(export.file.is_some()));
                }
                page => page?,
            },
            false => Page { documents: Vec::new(), resume_position: None },
        };
        let wanted = export.limit.map_or(u64::MAX, |limit| limit - state.documents);
        for document in documents.iter().take(usize::try_from(wanted).unwrap_or(usize::MAX)) {
            export.format.append(document.as_ref(), &mut bytes)?;
            state.documents += 1;
        }
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(failed)?;
        state.bytes += bytes.len() as u64;
        watch.report_progress(state.bytes);
        bytes.clear();
        let is_last = resume_position.is_none();
        // An empty page of a cursor has no resume position; the previous position stays valid.
        if let Some(resume_position) =
            resume_position.filter(|resume_position| !resume_position.is_empty())
        {
            state.resume_position = Some(resume_position);
        }
        keep(out, (!is_last).then_some(&state))?;
        if is_last {
            let ExportState { documents, bytes, .. } = state;
            return Ok(Exported { documents, bytes, ..Exported::default() });
        }
    }
}

/// Returns the message of an interrupted run, which suggests `--resume` if a state was saved.
pub(crate) fn interrupted(has_state: bool) -> String {
    match has_state {
        true => "interrupted: run it again with --resume to continue".to_owned(),
        false => "interrupted".to_owned(),
    }
}

#[cfg(test)]
mod tests;
