//! A file to batches. After each batch the state says up to where everything was acknowledged or refused;
//! where one ends depends on the file and on `--batch` alone, so that a later run knows which documents may
//! have been sent without anybody knowing: those of the next batch.

use std::path::{Path, PathBuf};

use document::{DocBuf, ObjectId};

use crate::{
    exporting::interrupted,
    extended::{Style, write_document},
    format::Format,
    input::{Input, Item, TableRules},
    limits::BATCH_BYTES,
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
    /// Those that were acknowledged and are not there, by the number of documents before and after; `None`:
    /// the server does not say.
    pub dead: Option<u64>,
    /// The line of the refusal at which it ended.
    pub stopped: Option<u64>,
}

/// Imports. The file is opened before the server is asked for anything.
pub fn import(
    import: &Import,
    open: impl FnOnce() -> Result<Box<dyn Sink>, String>,
    watch: &dyn Watch,
) -> Result<Imported, String> {
    let beside = import.file.as_ref().map(|path| state::beside(path, STATE));
    let (state, is_later) = match begin(import, beside.as_deref())? {
        Begun::Finished(done) => return Ok(done),
        Begun::Anew(state) => (state, false),
        Begun::Later(state) => (state, true),
    };
    let from = Place { offset: state.offset, line: state.line };
    let input = Input::open(import.file.as_deref(), &import.format, import.rules, from)?;
    let refusals = Refusals::open(&import.refusals, state.refused_bytes)?;
    let mut run = Run { import, input, refusals, sink: open()?, state, beside, watch };
    if !is_later {
        run.state.before = run.sink.count()?;
        run.keep()?;
    }
    let again = is_later && !std::mem::take(&mut run.state.is_settled);
    if is_later {
        run.keep()?;
    }
    run.work(again)
}

/// Where an import begins.
enum Begun {
    Anew(ImportState),
    Later(ImportState),
    Finished(Imported),
}

/// Looks what an earlier run has left.
fn begin(import: &Import, beside: Option<&Path>) -> Result<Begun, String> {
    let job = format!(
        "{} by {:?}, {} at once, as {}",
        import.job,
        import.mode,
        import.batch,
        import.format.word()
    );
    let shown = beside.unwrap_or(Path::new("")).display();
    match beside.map_or(Ok(None), state::load::<ImportState>)? {
        Some(kept) if import.resume && kept.job != job => {
            Err(format!("{shown} is of another import: use the same arguments, or remove it"))
        }
        Some(kept) if import.resume && kept.is_finished => {
            Ok(Begun::Finished(counts(&kept, kept.dead)))
        }
        Some(kept) if import.resume => Ok(Begun::Later(kept)),
        Some(kept) if !kept.is_finished => Err(format!(
            "an import of this file was not finished: go on with --resume, or remove {shown}"
        )),
        _ => Ok(Begun::Anew(ImportState {
            job,
            line: Place::START.line,
            seconds: u32::try_from(clock::wall_ms() / 1000).unwrap_or_default(),
            random: std::array::from_fn(|_| fastrand::u8(..)),
            ..ImportState::default()
        })),
    }
}

/// An import under way.
struct Run<'a> {
    import: &'a Import,
    input: Input,
    refusals: Refusals,
    sink: Box<dyn Sink>,
    state: ImportState,
    beside: Option<PathBuf>,
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
                    self.state.is_settled = true;
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
        // It stays, so that a run that was killed right here is known to be finished.
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
            match outcome {
                Outcome::Created => self.state.created += 1,
                Outcome::Replaced => self.state.replaced += 1,
                Outcome::Unsent => break,
                Outcome::Refused(reason) => {
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

    fn keep(&self) -> Result<(), String> {
        self.beside.as_deref().map_or(Ok(()), |beside| state::save(beside, &self.state))
    }

    fn ended(&mut self) -> Result<Imported, String> {
        let dead = match (self.state.before, self.sink.count()?) {
            (Some(before), Some(after)) => {
                Some((before + self.state.created).saturating_sub(after))
            }
            _ => None,
        };
        Ok(counts(&self.state, dead))
    }
}

/// What came of the import so far.
fn counts(state: &ImportState, dead: Option<u64>) -> Imported {
    let ImportState { read, created, replaced, refused, .. } = *state;
    Imported { read, created, replaced, refused, dead, stopped: None }
}

/// A document as the file of refusals has it.
fn text_of(document: &DocBuf) -> Vec<u8> {
    let mut out = Vec::new();
    write_document(document.as_ref(), Style::Canonical, &mut out);
    out
}

#[cfg(test)]
mod tests;
