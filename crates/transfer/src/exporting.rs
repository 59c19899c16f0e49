//! Pages to a file. After each page the file is durable and the state says how long it is, so that a run
//! that was killed goes on behind the last page.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use crate::{
    format::Format,
    place::{Page, Source, Watch},
    state::{self, ExportState},
};

/// End of the name of the state.
const STATE: &str = ".export-state";

/// What is exported, and where to.
#[derive(Clone, Debug)]
pub struct Export {
    /// What tells this export from others: server, collection, query and the like.
    pub job: String,
    /// The file; `None`: standard output.
    pub file: Option<PathBuf>,
    /// How documents are written.
    pub format: Format,
    /// How many are wanted at the most.
    pub limit: Option<u64>,
    /// Whether an earlier run goes on.
    pub resume: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Documents in the file.
    pub documents: u64,
    /// Its bytes.
    pub bytes: u64,
    /// It was whole already.
    pub was_whole: bool,
}

/// Exports. `open` opens the source behind a mark of an earlier run, with a limit of what is still wanted.
pub fn export(
    export: &Export,
    open: impl FnOnce(Option<&str>, Option<u64>) -> Result<Box<dyn Source>, String>,
    watch: &dyn Watch,
) -> Result<Exported, String> {
    let job = format!("{} as {}", export.job, export.format.word());
    let Some(path) = &export.file else {
        let source = open(None, export.limit)?;
        return copy(
            export,
            source,
            &mut io::stdout().lock(),
            ExportState::default(),
            watch,
            |_, _| Ok(()),
        );
    };
    let beside = state::beside(path, STATE);
    let kept: Option<ExportState> = state::load(&beside)?;
    let state = match (kept, export.resume) {
        (Some(kept), true) if kept.job == job => kept,
        (Some(_), true) => {
            return Err(format!(
                "{} is of another export: use the same arguments, or remove it and {}",
                beside.display(),
                path.display()
            ));
        }
        (None, true) if path.exists() => {
            let bytes = path.metadata().map_or(0, |it| it.len());
            return Ok(Exported { documents: 0, bytes, was_whole: true });
        }
        (None, true) => ExportState { job, ..ExportState::default() },
        (kept, false) if kept.is_some() || path.exists() => {
            return Err(format!(
                "{} is there already: remove it, give another name, or go on with --resume",
                path.display()
            ));
        }
        (_, false) => ExportState { job, ..ExportState::default() },
    };
    let rest = export.limit.map(|limit| limit.saturating_sub(state.documents));
    let source = open(state.mark.as_deref(), rest)?;
    let mut file = open_file(path, &beside, &state)?;
    let done = copy(export, source, &mut file, state, watch, |file, state| {
        file.sync_data().map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        state.map_or(Ok(()), |state| state::save(&beside, state))
    })?;
    state::remove(&beside)?;
    Ok(done)
}

/// Opens the file as long as the state says; the state is there before it, so that one without a state is
/// whole.
fn open_file(path: &Path, beside: &Path, state: &ExportState) -> Result<File, String> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
    state::save(beside, state)?;
    let mut options = File::options();
    // Nobody else may read what is in it.
    let file = options.append(true).create(true).mode(0o600).open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() < state.bytes {
        return Err(format!(
            "{} is shorter than {} says: remove both and begin anew",
            path.display(),
            beside.display()
        ));
    }
    file.set_len(state.bytes).map_err(failed)?;
    Ok(file)
}

/// Copies page after page; `keep` is called behind each, with where a later run goes on. Behind the last one
/// there is nothing to go on with: a run that is killed there begins again with that page, since a state with
/// its bytes and the mark of the page before would have it twice.
fn copy<W: Write>(
    export: &Export,
    mut source: Box<dyn Source>,
    out: &mut W,
    mut state: ExportState,
    watch: &dyn Watch,
    keep: impl Fn(&mut W, Option<&ExportState>) -> Result<(), String>,
) -> Result<Exported, String> {
    let failed = |error: io::Error| format!("cannot write what was exported: {error}");
    let mut bytes = if state.bytes == 0 { export.format.head()? } else { Vec::new() };
    loop {
        if !watch.goes_on() {
            return Err(interrupted(export.file.is_some()));
        }
        let more = export.limit.is_none_or(|limit| state.documents < limit);
        let Page { documents, mark } = match more {
            true => match source.next_page() {
                Err(_) if !watch.goes_on() => return Err(interrupted(export.file.is_some())),
                page => page?,
            },
            false => Page { documents: Vec::new(), mark: None },
        };
        let wanted = export.limit.map_or(u64::MAX, |limit| limit - state.documents);
        for document in documents.iter().take(usize::try_from(wanted).unwrap_or(usize::MAX)) {
            export.format.append(document.as_ref(), &mut bytes)?;
            state.documents += 1;
        }
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(failed)?;
        state.bytes += bytes.len() as u64;
        watch.so_far(state.bytes);
        bytes.clear();
        let is_last = mark.is_none();
        // An empty page of a cursor has nothing to go on behind.
        if let Some(mark) = mark.filter(|mark| !mark.is_empty()) {
            state.mark = Some(mark);
        }
        keep(out, (!is_last).then_some(&state))?;
        if is_last {
            return Ok(Exported {
                documents: state.documents,
                bytes: state.bytes,
                was_whole: false,
            });
        }
    }
}

/// What is said of a run that was asked to end.
pub(crate) fn interrupted(has_state: bool) -> String {
    match has_state {
        true => "interrupted: run it again with --resume to go on".to_owned(),
        false => "interrupted".to_owned(),
    }
}

#[cfg(test)]
mod tests;
