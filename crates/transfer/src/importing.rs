//! A file to batches. After each batch the state says up to where everything was acknowledged or refused;
//! where one ends depends on the file and on `--batch` alone, so that a later run knows which documents may
//! have been sent without anybody knowing: those of the next batch.

use std::path::{Path, PathBuf};

use document::{DocBuf, ObjectId};

use crate::{
    exporting::interrupted,
    extended::{Style, write_document},
    files::beside,
    format::Format,
    input::{Input, Item, TableRules},
    input_file::InputFile,
    limits::{BATCH_BYTES, LISTED_EXISTING},
    place::{Mode, Outcome, Sink, Watch},
    refusals::Refusals,
    state::{self, ImportState},
    texts::Place,
};

/// End of the name of the state.
const STATE: &str = ".import-state";

/// What is imported, and how.
#[derive(Clone, Debug)]
pub struct Import {
    /// What tells this import from others: server, collection, mode and the like.
    pub job: String,
    /// The file; `None`: standard input.
    pub file: Option<PathBuf>,
    /// How documents stand in it.
    pub format: Format,
    /// How texts of a table become values.
    pub rules: TableRules,
    /// What happens where an id is there.
    pub mode: Mode,
    /// Whether the first refusal ends it.
    pub stop_on_error: bool,
    /// Documents of a batch.
    pub batch: usize,
    /// Where refusals go.
    pub refusals: PathBuf,
    /// Whether an earlier run goes on.
    pub resume: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Documents that were read, the refused ones among them.
    pub read: u64,
    /// Those that were not there before.
    pub created: u64,
    /// Those that took the place of others, or changed them.
    pub replaced: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Those of them whose ids existed.
    pub existing: u64,
    /// Those that were acknowledged and are not there, by the number of documents before and after; `None`:
    /// the server does not say.
    pub dead: Option<u64>,
    /// The line of the refusal at which it ended.
    pub stopped: Option<u64>,
    /// What earlier runs had done of it; `None`: it was begun anew.
    pub earlier: Option<Earlier>,
}

/// What earlier runs had done of an import that was resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Documents that they had read.
    pub read: u64,
    /// The line at which this run went on.
    pub line: u64,
    /// Whether nothing was left to do.
    pub was_finished: bool,
}

/// Imports. The file is opened before the server is asked for anything. `report` hears what was done before
/// the state is removed, so that an import that is killed in between is known to be finished.
pub fn import(
    import: &Import,
    open: impl FnOnce() -> Result<Box<dyn Sink>, String>,
    watch: &dyn Watch,
    report: &mut dyn FnMut(&Imported),
) -> Result<Imported, String> {
    let beside = import.file.as_ref().map(|path| beside(path, STATE));
    let file = import.file.as_deref().map(InputFile::open).transpose()?;
    let begun = begin(import, beside.as_deref(), file.as_ref())?;
    let done = match begun {
        Begun::Finished(done) => done,
        Begun::Run(state, is_later) => {
            run(import, state, is_later, open, (file, beside.clone()), watch)?
        }
    };
    report(&done);
    if let (Some(beside), None) = (&beside, done.stopped) {
        state::remove(beside)?;
    }
    Ok(done)
}

fn run(
    import: &Import,
    state: ImportState,
    is_later: bool,
    open: impl FnOnce() -> Result<Box<dyn Sink>, String>,
    (file, beside): (Option<InputFile<'_>>, Option<PathBuf>),
    watch: &dyn Watch,
) -> Result<Imported, String> {
    let from = Place { offset: state.offset, line: state.line };
    let input = Input::open(import.file.as_deref(), &import.format, import.rules, from)?;
    let sink = open()?;
    let refusals = Refusals::open(&import.refusals, state.refused_bytes)?;
    let earlier = is_later.then_some(earlier(&state, false));
    let mut run = Run { import, file, input, refusals, sink, state, beside, earlier, watch };
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

/// Where an import begins.
enum Begun {
    /// There is something to do; an earlier run has begun it or not.
    Run(ImportState, bool),
    Finished(Imported),
}

/// Looks what an earlier run has left. Its state is believed only for the file that it has read.
fn begin(
    import: &Import,
    beside: Option<&Path>,
    file: Option<&InputFile<'_>>,
) -> Result<Begun, String> {
    let Import { job, mode, batch, format, .. } = import;
    let job = format!("{job} by {mode:?}, {batch} at once, as {}", format.word());
    let shown = beside.unwrap_or(Path::new("")).display();
    let version = file.map(|file| file.version).unwrap_or_default();
    let kept = beside.map_or(Ok(None), state::load::<ImportState>)?;
    let anew = ImportState {
        job,
        version,
        line: Place::START.line,
        seconds: u32::try_from(clock::wall_ms() / 1000).unwrap_or_default(),
        random: std::array::from_fn(|_| fastrand::u8(..)),
        ..ImportState::default()
    };
    let Some((kept, file)) = kept.zip(file) else { return Ok(Begun::Run(anew, false)) };
    if kept.is_finished {
        // A run that was killed before it could remove its state; of another import it says nothing.
        let is_this = import.resume && kept.job == anew.job && file.difference(&kept)?.is_none();
        return Ok(match is_this {
            true => Begun::Finished(Imported {
                earlier: Some(earlier(&kept, true)),
                ..counts(&kept, kept.dead)
            }),
            false => Begun::Run(anew, false),
        });
    }
    if !import.resume {
        return Err(format!(
            "an import of this file was not finished: go on with --resume, or remove {shown}"
        ));
    }
    if kept.job != anew.job {
        return Err(format!("{shown} is of another import: use the same arguments, or remove it"));
    }
    if let Some(how) = file.difference(&kept)? {
        let path = file.path.display();
        return Err(format!(
            "{path} is not the file that the earlier run has read up to line {}: {how}. Remove \
             {shown} to import this file from its beginning, or put the earlier one back to go on",
            kept.line
        ));
    }
    Ok(Begun::Run(ImportState { version, ..kept }, true))
}

/// An import under way.
struct Run<'a> {
    import: &'a Import,
    file: Option<InputFile<'a>>,
    input: Input,
    refusals: Refusals,
    sink: Box<dyn Sink>,
    state: ImportState,
    beside: Option<PathBuf>,
    earlier: Option<Earlier>,
    watch: &'a dyn Watch,
}

/// Documents that are sent together, and where the next ones begin.
struct Batch {
    items: Vec<Item>,
    next: Place,
    /// Why nothing behind them can be read.
    broken: Option<String>,
}

/// The place of a document among those that are sent, or why it is not sent and what stands there.
type Prepared = Result<usize, (String, Vec<u8>)>;

impl Run<'_> {
    fn work(&mut self, mut again: bool) -> Result<Imported, String> {
        loop {
            if !self.watch.goes_on() {
                // What was sent ahead before may still be: it is not looked at again.
                self.state.is_settled = !again;
                self.keep()?;
                return Err(interrupted(self.beside.is_some()));
            }
            let batch = self.next_batch();
            if !batch.items.is_empty() {
                let sent = self.send(batch.items, batch.next, again);
                let stopped = match sent {
                    Err(_) if !self.watch.goes_on() => {
                        return Err(interrupted(self.beside.is_some()));
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
        // It is removed when this was reported: a run that is killed before is known to be finished.
        (self.state.is_finished, self.state.dead) = (true, ended.dead);
        self.keep()?;
        Ok(ended)
    }

    /// Reads until there is enough to send.
    fn next_batch(&mut self) -> Batch {
        let start = Place { offset: self.state.offset, line: self.state.line };
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

    /// Sends documents and writes down what became of them; the line of the refusal that ends the import.
    fn send(&mut self, items: Vec<Item>, next: Place, again: bool) -> Result<Option<u64>, String> {
        let start = Place { offset: self.state.offset, line: self.state.line };
        let places: Vec<Place> = items.iter().map(|item| item.next).collect();
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
                        // A later run begins with it, when it may have been mended: it is not counted.
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
        self.watch.so_far(self.state.offset);
        Ok(stopped)
    }

    /// What is sent, up to the first refusal where that ends the import; and of each item what of it is sent.
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

    /// Gives a document an id where it has none: the same one in every run, from where the document ends in
    /// the file.
    fn prepare(&self, document: DocBuf, offset: u64) -> Result<DocBuf, (String, Vec<u8>)> {
        let counter = u32::try_from(offset & 0xff_ffff).unwrap_or_default();
        let seconds = u32::try_from(offset >> 24).unwrap_or_default();
        let seconds = self.state.seconds.wrapping_add(seconds);
        let id = ObjectId::from_parts(seconds, self.state.random, counter);
        let made = self.sink.with_id(document.clone(), id);
        made.map_err(|reason| (reason, text_of(&document)))
    }

    /// Whether so many ids existed already that the next document of this kind is not listed.
    fn is_unlisted(&self) -> bool {
        !self.import.stop_on_error && LISTED_EXISTING <= self.state.existing
    }

    fn keep(&mut self) -> Result<(), String> {
        if let Some(file) = &self.file {
            self.state.content = file.content(self.state.offset)?;
        }
        self.beside.as_deref().map_or(Ok(()), |beside| state::save(beside, &self.state))
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

/// What came of the import so far.
fn counts(state: &ImportState, dead: Option<u64>) -> Imported {
    let ImportState { read, created, replaced, refused, existing, .. } = *state;
    let (stopped, earlier) = (None, None);
    Imported { read, created, replaced, refused, existing, dead, stopped, earlier }
}

/// A document as the file of refusals has it.
fn text_of(document: &DocBuf) -> Vec<u8> {
    let mut out = Vec::new();
    write_document(document.as_ref(), Style::Canonical, &mut out);
    out
}

#[cfg(test)]
mod tests;
