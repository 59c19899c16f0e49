//! Sends a file in batches. After each batch, the state file records the position up to which every
//! document was acknowledged or refused. Batches depend only on the file and `--batch`, so a
//! resumed run knows that at most the next batch was sent without an acknowledgement.

use std::path::{Path, PathBuf};

use document::{DocBuf, ObjectId};

use crate::{
    exporting::interrupted,
    extended::{Style, write_document},
    files::beside,
    format::Format,
    input::{Batch, Input, Item, TableRules},
    input_file::InputFile,
    interfaces::{Mode, Outcome, RunMonitor, Sink},
    refusals::{LISTED_EXISTING, Refusals},
    state::{self, ImportState},
    texts::FilePosition,
};

/// Size of the input after which a batch is sent, even if it has fewer documents than allowed.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Suffix of the name of an import's state file.
const STATE: &str = ".import-state";

/// Source, format and mode of an import.
#[derive(Clone, Debug)]
pub struct Import {
    /// Identifies this import in the state file: server, collection, mode and so on.
    pub job: String,
    /// The input file; `None` for standard input.
    pub file: Option<PathBuf>,
    /// Format in which documents are read.
    pub format: Format,
    /// Rules by which texts of a table are converted to values.
    pub rules: TableRules,
    /// Treatment of a document whose id exists.
    pub mode: Mode,
    /// Whether the first refusal ends the import.
    pub stop_on_error: bool,
    /// Number of documents per batch.
    pub batch: usize,
    /// Path of the file that lists the refused documents.
    pub refusals: PathBuf,
    /// Whether to resume an earlier run.
    pub resume: bool,
}

/// Counts of a completed import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Number of documents read, including refused ones.
    pub read: u64,
    /// Number of documents that were created.
    pub created: u64,
    /// Number of documents replaced or changed.
    pub replaced: u64,
    /// Number of documents that the server refused.
    pub refused: u64,
    /// Number of documents refused because their ids exist.
    pub existing: u64,
    /// Number of created documents that the collection does not contain afterwards, because they
    /// had already expired; `None` if unknown.
    pub dead: Option<u64>,
    /// Line of the document whose refusal ended the import, if one did.
    pub stopped: Option<u64>,
    /// Progress of earlier runs of a resumed import; `None` for an import from the start.
    pub earlier: Option<Earlier>,
}

/// Progress of earlier runs of a resumed import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Number of documents that earlier runs had read.
    pub read: u64,
    /// Line at which this run continued.
    pub line: u64,
    /// Whether an earlier run had finished the import, so that this run had nothing to do.
    pub was_finished: bool,
}

/// Runs an import. The file is opened before any request is sent. `report` is called before the
/// state file is removed, so that the next run knows that a killed import is finished.
pub fn import(
    import: &Import,
    open: impl FnOnce() -> Result<Box<dyn Sink>, String>,
    watch: &dyn RunMonitor,
    report: &mut dyn FnMut(&Imported),
) -> Result<Imported, String> {
    let state_path = import.file.as_ref().map(|path| beside(path, STATE));
    let file = import.file.as_deref().map(InputFile::open).transpose()?;
    let begun = begin(import, state_path.as_deref(), file.as_ref())?;
    let done = match begun {
        ImportStart::Finished(done) => done,
        ImportStart::Run(state, is_later) => {
            run(import, state, is_later, open, (file, state_path.clone()), watch)?
        }
    };
    report(&done);
    if let (Some(state_path), None) = (&state_path, done.stopped) {
        state::remove(state_path)?;
    }
    Ok(done)
}

fn run(
    import: &Import,
    state: ImportState,
    is_later: bool,
    open: impl FnOnce() -> Result<Box<dyn Sink>, String>,
    (file, state_path): (Option<InputFile<'_>>, Option<PathBuf>),
    watch: &dyn RunMonitor,
) -> Result<Imported, String> {
    let from = FilePosition { offset: state.offset, line: state.line };
    let input = Input::open(import.file.as_deref(), &import.format, import.rules, from)?;
    let sink = open()?;
    let refusals = Refusals::open(&import.refusals, state.refused_bytes)?;
    let earlier = is_later.then_some(earlier(&state, false));
    let mut run = Run { import, file, input, refusals, sink, state, state_path, earlier, watch };
    if !is_later {
        run.state.before = run.sink.count()?;
        run.keep()?;
    }
    let again = is_later && !std::mem::take(&mut run.state.is_settled);
    if is_later {
        run.state.is_stopped = false;
        run.keep()?;
    }
    run.work(again)
}

fn earlier(state: &ImportState, was_finished: bool) -> Earlier {
    Earlier { read: state.read, line: state.line, was_finished }
}

/// The result of starting an import.
enum ImportStart {
    /// Documents have to be sent; the flag says whether an earlier run has started the import.
    Run(ImportState, bool),
    Finished(Imported),
}

/// Checks the state that an earlier run has left. The state is refused if the earlier run has read
/// another file, or the file has changed since.
fn begin(
    import: &Import,
    state_path: Option<&Path>,
    file: Option<&InputFile<'_>>,
) -> Result<ImportStart, String> {
    let Import { job, mode, batch, format, .. } = import;
    let job = format!("{job} by {mode:?}, {batch} at once, as {}", format.word());
    let shown = state_path.unwrap_or(Path::new("")).display();
    let version = file.map(|file| file.version).unwrap_or_default();
    let kept = state_path.map_or(Ok(None), state::load::<ImportState>)?;
    let anew = ImportState {
        job,
        version,
        line: FilePosition::START.line,
        seconds: u32::try_from(clock::wall_ms() / 1000).unwrap_or_default(),
        random: std::array::from_fn(|_| fastrand::u8(..)),
        ..ImportState::default()
    };
    let Some((kept, file)) = kept.zip(file) else { return Ok(ImportStart::Run(anew, false)) };
    if kept.is_finished {
        // A finished state was left by a run killed at its end; it counts only for the same import.
        let is_this = import.resume && kept.job == anew.job && file.difference(&kept)?.is_none();
        return Ok(match is_this {
            true => ImportStart::Finished(Imported {
                earlier: Some(earlier(&kept, true)),
                ..counts(&kept, kept.dead)
            }),
            false => ImportStart::Run(anew, false),
        });
    }
    if !import.resume {
        return Err(format!(
            "an import of this file is unfinished: continue with --resume, or remove {shown}"
        ));
    }
    if kept.job != anew.job {
        return Err(format!("{shown} belongs to a different import: use its options or remove it"));
    }
    if let Some(how) = file.difference(&kept)? {
        let path = file.path.display();
        return Err(format!(
            "{path} is not the file that the earlier run read up to line {}: {how}. Remove {shown} \
             to import this file from its beginning, or put the earlier file back to continue",
            kept.line
        ));
    }
    Ok(ImportStart::Run(ImportState { version, ..kept }, true))
}

struct Run<'a> {
    import: &'a Import,
    file: Option<InputFile<'a>>,
    input: Input,
    refusals: Refusals,
    sink: Box<dyn Sink>,
    state: ImportState,
    state_path: Option<PathBuf>,
    earlier: Option<Earlier>,
    watch: &'a dyn RunMonitor,
}

/// The index of a document among those sent. For a document that is not sent: the reason, and the
/// document's text.
type Prepared = Result<usize, (String, Vec<u8>)>;

impl Run<'_> {
    fn work(&mut self, mut again: bool) -> Result<Imported, String> {
        loop {
            if !self.watch.should_continue() {
                // The import is not settled until the unacknowledged batch was repeated.
                self.state.is_settled = !again;
                self.keep()?;
                return Err(interrupted(self.state_path.is_some()));
            }
            let batch = self.next_batch();
            if !batch.items.is_empty() {
                let sent = self.send(batch.items, batch.next, again);
                let stopped = match sent {
                    Err(_) if !self.watch.should_continue() => {
                        return Err(interrupted(self.state_path.is_some()));
                    }
                    sent => sent?,
                };
                self.refusals.flush()?;
                if stopped.is_some() {
                    (self.state.is_settled, self.state.is_stopped) = (true, true);
                    self.keep()?;
                    let ended = self.ended()?;
                    let (read, refused) = (ended.read + 1, ended.refused + 1);
                    return Ok(Imported { read, refused, stopped, ..ended });
                }
                self.state.refused_bytes = self.refusals.bytes;
                self.keep()?;
                again = false;
            } else if batch.broken.is_none() {
                break;
            }
            if let Some(why) = batch.broken {
                return Err(match &self.import.file {
                    Some(path) => format!("{}: {why}", path.display()),
                    None => why,
                });
            }
        }
        let ended = self.ended()?;
        // The state is removed after the report: until then it says that the import is finished.
        (self.state.is_finished, self.state.dead) = (true, ended.dead);
        self.keep()?;
        Ok(ended)
    }

    fn next_batch(&mut self) -> Batch {
        let start = FilePosition { offset: self.state.offset, line: self.state.line };
        let mut batch = Batch { items: Vec::new(), next: start, broken: None };
        while batch.items.len() < self.import.batch
            && batch.next.offset - start.offset < BATCH_BYTES as u64
        {
            match self.input.next_item() {
                Ok(Some(item)) => {
                    batch.next = item.next;
                    batch.items.push(item);
                }
                Ok(None) => break,
                Err(why) => {
                    batch.broken = Some(why);
                    break;
                }
            }
        }
        batch
    }

    /// Sends the documents of a batch and records the outcomes. Returns the line of the refused
    /// document if its refusal ends the import.
    fn send(
        &mut self,
        items: Vec<Item>,
        next: FilePosition,
        again: bool,
    ) -> Result<Option<u64>, String> {
        let start = FilePosition { offset: self.state.offset, line: self.state.line };
        let places: Vec<FilePosition> = items.iter().map(|item| item.next).collect();
        let (entries, prepared) = self.prepare_all(items);
        let outcomes = self.sink.write(&entries, again)?;
        let mut end = next;
        let mut stopped = None;
        for (at, (line, made)) in prepared.into_iter().enumerate() {
            let outcome = match &made {
                Ok(place) => outcomes.get(*place).cloned().unwrap_or(Outcome::Unsent),
                Err((reason, _)) => Outcome::Refused(reason.clone()),
            };
            let is_existing = matches!(outcome, Outcome::Existing(_));
            match outcome {
                Outcome::Created => self.state.created += 1,
                Outcome::Replaced => self.state.replaced += 1,
                Outcome::Unsent => break,
                Outcome::Existing(_) if self.is_unlisted() => {
                    self.refusals.count_unlisted(line);
                    self.state.existing += 1;
                    self.state.refused += 1;
                }
                Outcome::Refused(reason) | Outcome::Existing(reason) => {
                    let text = match made {
                        Ok(place) => text_of(&entries[place]),
                        Err((_, text)) => text,
                    };
                    self.refusals.push(line, &reason, &text)?;
                    if self.import.stop_on_error {
                        stopped = Some(line);
                        // The refused document is not counted: a resumed run repeats it, and it may
                        // be corrected by then.
                        let before = at.checked_sub(1).and_then(|before| places.get(before));
                        end = before.copied().unwrap_or(start);
                        break;
                    }
                    self.state.refused += 1;
                    self.state.existing += u64::from(is_existing);
                }
            }
            self.state.read += 1;
        }
        (self.state.offset, self.state.line) = (end.offset, end.line);
        self.watch.report_progress(self.state.offset);
        Ok(stopped)
    }

    /// Converts items to documents to send, up to the first invalid one if that ends the import.
    /// Also returns each item's line with its index among the documents, or with the error.
    fn prepare_all(&self, items: Vec<Item>) -> (Vec<DocBuf>, Vec<(u64, Prepared)>) {
        let mut entries = Vec::with_capacity(items.len());
        let mut prepared = Vec::with_capacity(items.len());
        for item in items {
            let made = item.document.and_then(|document| self.prepare(document, item.next.offset));
            let made = made.map(|entry| {
                entries.push(entry);
                entries.len() - 1
            });
            let ends = self.import.stop_on_error && made.is_err();
            prepared.push((item.line, made));
            if ends {
                break;
            }
        }
        (entries, prepared)
    }

    /// Adds an id to a document without one. The id is derived from the document's position in the
    /// file, so every run of the import generates the same id.
    fn prepare(&self, document: DocBuf, offset: u64) -> Result<DocBuf, (String, Vec<u8>)> {
        let counter = u32::try_from(offset & 0xff_ffff).unwrap_or_default();
        let seconds = u32::try_from(offset >> 24).unwrap_or_default();
        let seconds = self.state.seconds.wrapping_add(seconds);
        let id = ObjectId::from_parts(seconds, self.state.random, counter);
        let made = self.sink.with_id(document.clone(), id);
        made.map_err(|reason| (reason, text_of(&document)))
    }

    /// Returns whether the limit of listed documents with existing ids is reached.
    fn is_unlisted(&self) -> bool {
        !self.import.stop_on_error && LISTED_EXISTING <= self.state.existing
    }

    fn keep(&mut self) -> Result<(), String> {
        if let Some(file) = &self.file {
            self.state.content = file.content(self.state.offset)?;
        }
        self.state_path.as_deref().map_or(Ok(()), |state_path| state::save(state_path, &self.state))
    }

    fn ended(&mut self) -> Result<Imported, String> {
        let dead = match (self.state.before, self.sink.count()?) {
            (Some(before), Some(after)) => {
                Some((before + self.state.created).saturating_sub(after))
            }
            _ => None,
        };
        Ok(Imported { earlier: self.earlier, ..counts(&self.state, dead) })
    }
}

fn counts(state: &ImportState, dead: Option<u64>) -> Imported {
    let ImportState { read, created, replaced, refused, existing, .. } = *state;
    let (stopped, earlier) = (None, None);
    Imported { read, created, replaced, refused, existing, dead, stopped, earlier }
}

fn text_of(document: &DocBuf) -> Vec<u8> {
    let mut out = Vec::new();
    write_document(document.as_ref(), Style::Canonical, &mut out);
    out
}

#[cfg(test)]
mod tests;
