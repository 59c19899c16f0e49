//! The engine and the model side by side. An operation in progress may be held after its commit is
//! stamped and before it is published, be paused at a read after it has opened its view, or wait
//! for another operation.
//!
//! While operations are in progress there are three states of the model:
//!
//! ```text
//!  start       visible when the operation began
//!  published   visible now, while a commit is held
//!  model       stamped: including the held commit
//! ```
//!
//! The result of an operation that ran without interruption has to agree with `published`. If the
//! operation was paused after it opened its view, the result has to agree with `start`, the state
//! of that view. A change takes effect in `model` as soon as its commit is stamped; its caller gets
//! the result later.

use document::Value;
use engine::{Namespace, Rules};
use store::Store as _;
use test_kit::{Kit, START_MS, Setup, Task, ready};

use crate::{
    ParsedDialect,
    cursor::OpenCursor,
    model::{Doc, Model},
    op::{Op, Outcome},
    path::{Path, ReadResult},
};

/// Kind of an operation in progress.
#[derive(Clone, Debug)]
enum Activity {
    /// A read by this path.
    Read(Path),
    /// An operation, which may change data or settings.
    Do(Op),
    /// A pass of the reaper.
    Reap,
}

#[derive(Debug)]
enum ActivityAnswer {
    ReadResult(ReadResult),
    Told(Outcome),
    /// A completed pass of the reaper.
    Reaped,
}

#[derive(Debug)]
struct PendingOperation {
    /// The activity whose result is compared with the model when it completes.
    what: Activity,
    /// The task that performs the operation, polled by the simulation.
    task: Task<ActivityAnswer>,
    /// The visible state when the operation began.
    start: Model,
    /// Whether no commit was held when the activity began, so that its view sees the state `start`.
    clean: bool,
    /// Whether the operation was paused after it opened its view.
    stopped: bool,
    /// Expected result of the activity, if its effect is already in the model; otherwise `None`.
    expected: Option<Outcome>,
}

/// The engine and the model.
#[derive(Debug)]
pub(crate) struct World {
    /// The engine, its store and its clock.
    kit: Kit,
    /// The state after all stamped commits, visible or not.
    pub(crate) model: Model,
    /// The state after all published commits, while a commit is held; otherwise `None`.
    published: Option<Model>,
    /// The operations in progress. If a commit is held, its operation is the first.
    pending: Vec<PendingOperation>,
    cursors: Vec<OpenCursor>,
    /// Number of passes of the reaper; each advances its clock by one second.
    passes: u64,
}

/// Point up to which an operation runs before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopPoint {
    Through,
    /// The operation's commit is held between stamp and publication.
    Held,
    /// The operation is paused at the read with this number.
    Stopped(u64),
}

/// Result of a check; the error describes the mismatch.
type Checked = Result<(), String>;

/// Fails if two values differ, and reports both.
fn expect_same<T: PartialEq + std::fmt::Debug>(
    what: &dyn std::fmt::Debug,
    got: &T,
    want: &T,
) -> Checked {
    if got == want { Ok(()) } else { Err(format!("{what:?}: got {got:?}, expected {want:?}")) }
}

impl World {
    /// Creates a world with an empty collection. `rules` are the engine's rules, all enabled or all
    /// but one.
    pub(crate) fn new(rules: Rules) -> Self {
        let dialect = std::sync::Arc::new(ParsedDialect);
        let kit = Kit::new(Setup { rules, dialect, ..Setup::default() });
        let model = Model::new(START_MS);
        Self { kit, model, published: None, pending: Vec::new(), cursors: Vec::new(), passes: 0 }
    }

    /// Returns the currently visible state.
    fn visible_model(&self) -> &Model {
        self.published.as_ref().unwrap_or(&self.model)
    }

    /// Returns whether a commit is held between stamp and publication.
    pub(crate) fn is_held(&self) -> bool {
        self.published.is_some()
    }

    /// Returns whether a commit is stamped and not published.
    fn is_in_flight(&self) -> bool {
        self.kit.store.in_flight().oldest_commit().is_some()
    }

    /// Returns whether an operation is paused at a read inside its view.
    pub(crate) fn has_stopped(&self) -> bool {
        self.pending.iter().any(|pending| pending.stopped)
    }

    /// Returns whether a change of settings is in progress.
    pub(crate) fn changes_settings(&self) -> bool {
        let changes =
            |one: &PendingOperation| matches!(&one.what, Activity::Do(op) if op.is_settings());
        self.pending.iter().any(changes)
    }

    /// Returns the number of operations in progress.
    pub(crate) fn under_way(&self) -> usize {
        self.pending.len()
    }

    /// Returns a task that executes the activity when it is polled.
    fn task_of(&mut self, what: &Activity) -> Task<ActivityAnswer> {
        let (engine, name): (_, Namespace) = (self.kit.engine.clone(), self.kit.namespace());
        match what.clone() {
            Activity::Read(path) => {
                Task::new(
                    async move { ActivityAnswer::ReadResult(path.read_along(engine, name).await) },
                )
            }
            Activity::Do(op) => {
                Task::new(async move { ActivityAnswer::Told(op.run_op(engine, name).await) })
            }
            Activity::Reap => {
                self.passes += 1;
                let elapsed = std::time::Duration::from_secs(self.passes);
                Task::new(async move {
                    let model = engine::Model::Documents;
                    engine.reap_once(elapsed).await.expect("a pass");
                    let collection =
                        engine.expect_collection(model, &name).expect("the collection");
                    engine.reap_now(&collection).await.expect("reaped");
                    ActivityAnswer::Reaped
                })
            }
        }
    }

    /// Returns a description of the settings that are in effect in the engine.
    fn in_force(&self) -> String {
        let record = &self.kit.collection().state().record;
        let indexes = record.indexes.iter().map(|index| {
            let rule = record.settings.dates.iter().find(|rule| rule.index == index.id);
            (index.id, index.ready, rule.and_then(|rule| rule.after_s))
        });
        format!("{:?} {:?}", record.settings.default, indexes.collect::<Vec<_>>())
    }

    /// Starts an operation and polls it once.
    ///
    /// An operation to be held is polled while the store's gate is closed: its commit is stamped
    /// and waits for publication. An operation to be stopped is polled until the store's turnstile
    /// pauses its n-th read. An operation that completes before that is checked at once.
    fn begin_operation(&mut self, what: Activity, how: StopPoint) -> Checked {
        match how {
            StopPoint::Through => {}
            StopPoint::Held => self.kit.store.gate().shut(),
            StopPoint::Stopped(nth) => self.kit.store.turnstile().stop_nth(nth),
        }
        let before = self.in_force();
        let task = self.task_of(&what);
        let (start, clean) = (self.visible_model().clone(), !self.is_held());
        let mut pending =
            PendingOperation { what, task, start, clean, stopped: false, expected: None };
        // After one poll the operation has completed, or waits at a held commit or the turnstile.
        let answer = pending.task.poll();
        let has_stopped = self.kit.store.turnstile().has_paused();
        self.kit.store.turnstile().disarm();
        if before != self.in_force() {
            self.take_effect(&mut pending);
        }
        match answer {
            Some(answer) => {
                if how == StopPoint::Held {
                    self.kit.store.gate().open();
                }
                return self.check_answer(pending, answer);
            }
            None if how == StopPoint::Held && self.is_in_flight() => self.hold_commit(pending),
            None => {
                // It waits for another operation on its document, and has no commit.
                if how == StopPoint::Held {
                    self.kit.store.gate().open();
                }
                pending.stopped = matches!(how, StopPoint::Stopped(_)) && has_stopped && clean;
                self.pending.push(pending);
            }
        }
        Ok(())
    }

    /// Records that the operation's first commit is stamped. The commit is published when the gate
    /// opens.
    ///
    /// From here on there are two states: `published` is visible, and `model` includes the stamped
    /// commit. Only one commit is held at a time, so two states suffice.
    fn hold_commit(&mut self, mut pending: PendingOperation) {
        self.published = Some(self.model.clone());
        if let Activity::Do(op) = &pending.what
            && !self.builds_index(op)
        {
            pending.expected = Some(self.model.apply_op(op));
        }
        // When the gate opens, this operation must be polled first.
        self.pending.insert(0, pending);
    }

    /// Returns whether the collection has an index that is incomplete or not in effect yet.
    ///
    /// Such an index serves no query, and such a date index expires no documents. The model
    /// therefore gets the index when it takes effect.
    fn is_building(&self) -> bool {
        let record = &self.kit.collection().state().record;
        let active = |id| {
            record.settings.dates.iter().any(|rule| rule.index == id && rule.after_s.is_some())
        };
        let ready = |index: &engine::IndexSpec| {
            index.ready && (index.expire_after.is_none() || active(index.id))
        };
        !record.indexes.iter().all(ready)
    }

    /// Returns whether an operation builds an index, and so takes effect with a later commit than
    /// its first. The first commit only announces the index to writers, without visible effect.
    fn builds_index(&self, op: &Op) -> bool {
        match op {
            Op::CreateIndex { .. } => true,
            Op::ChangeIndex { name, .. } => {
                self.model.indexes.get(name).is_some_and(|index| index.after.is_none())
            }
            _ => false,
        }
    }

    /// Applies a change of settings to the model when it has taken effect while its operation is
    /// still running.
    ///
    /// A change takes effect when its commit is published. This may be long before the operation
    /// completes, since counters are built afterwards.
    fn take_effect(&mut self, pending: &mut PendingOperation) {
        let Activity::Do(op) = &pending.what else { return };
        if pending.expected.is_some() || !op.is_settings() {
            return;
        }
        if !self.is_building() || !self.builds_index(op) {
            pending.expected = Some(self.model.apply_op(op));
        }
    }

    /// Compares the result of an operation with the expected one.
    fn check_answer(&mut self, pending: PendingOperation, answer: ActivityAnswer) -> Checked {
        match (&pending.what, answer) {
            (Activity::Read(path), ActivityAnswer::ReadResult(seen)) => {
                self.check_read(&pending, path, &seen)
            }
            (Activity::Do(op), ActivityAnswer::Told(outcome)) => {
                self.check_op(&pending, op, outcome)
            }
            _ => Ok(()),
        }
    }

    /// Checks the result of a read, which has to match the state of the read's view. If the read
    /// was not paused and a held commit changes settings, the result also has to match the state
    /// under the new settings.
    fn check_read(&self, pending: &PendingOperation, path: &Path, seen: &ReadResult) -> Checked {
        // The hinted index was dropped, or is not built yet.
        if *seen == ReadResult::Gone && pending.start.indexes != self.model.indexes {
            return Ok(());
        }
        let then = if pending.stopped { &pending.start } else { self.visible_model() };
        expect_same(path, seen, &path.expected_in(then))?;
        if !pending.stopped && self.holds_settings() {
            // The instant of the read's view is later than the stamp of the change.
            expect_same(&("while settings change", path), seen, &path.expected_in(&self.model))?;
        }
        if !pending.stopped && (path.sees_all() || path.id().is_some()) {
            self.check_risen(path.id(), path)?;
        }
        Ok(())
    }

    /// Returns whether the held commit changes settings at its stamp.
    fn holds_settings(&self) -> bool {
        let first =
            self.pending.first().filter(|pending| self.is_held() && pending.expected.is_some());
        first.is_some_and(|pending| matches!(&pending.what, Activity::Do(op) if op.is_settings()))
    }

    /// Checks that no document that is expired in the visible state is live in the model with all
    /// stamped commits.
    fn check_risen(&self, id: Option<i32>, what: &dyn std::fmt::Debug) -> Checked {
        match self.visible_model().rises_in(&self.model, id) {
            Some(id) => {
                Err(format!("{what:?} reported {id} as expired, although it was already renewed"))
            }
            None => Ok(()),
        }
    }

    /// Checks the result of a change against the model, and applies the change to the model unless
    /// this was done when its commit was held. While a commit is held, no other operation may
    /// change documents.
    fn check_op(&mut self, pending: &PendingOperation, op: &Op, outcome: Outcome) -> Checked {
        if let Some(want) = &pending.expected {
            return expect_same(op, &outcome, want);
        }
        let mut after = self.visible_model().clone();
        let mut want = after.apply_op(op);
        let mut idle = after.live_documents().eq(self.visible_model().live_documents());
        if outcome != want && (pending.stopped || !pending.clean) {
            // The operation had no effect, and may have been evaluated in the view of its start.
            let mut then = pending.start.clone();
            want = then.apply_op(op);
            idle = then.live_documents().eq(pending.start.live_documents());
            after = self.visible_model().clone();
            if !idle {
                return Err(format!(
                    "{op:?} returned {outcome:?}, which fits neither the current state nor that of its start"
                ));
            }
        }
        expect_same(op, &outcome, &want)?;
        if !self.is_held() {
            self.model = after;
            return Ok(());
        }
        if !idle {
            return Err(format!("{op:?} took effect while another commit was pending"));
        }
        match op.id() {
            Some(id) if !pending.stopped => self.check_risen(Some(id), op),
            _ => Ok(()),
        }
    }

    pub(crate) fn operate(&mut self, op: Op, how: StopPoint) -> Checked {
        self.begin_operation(Activity::Do(op), how)
    }

    pub(crate) fn look(&mut self, path: Path, how: StopPoint) -> Checked {
        self.begin_operation(Activity::Read(path), how)
    }

    /// Starts a pass of the reaper and runs it to completion.
    pub(crate) fn reap(&mut self) -> Checked {
        self.begin_operation(Activity::Reap, StopPoint::Through)
    }

    pub(crate) fn move_to(&mut self, ms: i64) {
        self.kit.move_to(ms - START_MS);
        self.model.move_to(ms);
        if let Some(published) = &mut self.published {
            published.move_to(ms);
        }
    }

    /// Publishes the held commit and continues the operations that waited for it. After that,
    /// `published` and `model` are one state again.
    pub(crate) fn open_gate(&mut self) -> Checked {
        self.kit.store.gate().open();
        self.published = None;
        self.go_on()
    }

    pub(crate) fn let_go(&mut self) -> Checked {
        self.kit.store.turnstile().open();
        self.go_on()
    }

    /// Polls all operations until none of them makes progress.
    fn go_on(&mut self) -> Checked {
        let mut idle = 0;
        // An operation may unblock another, so polling ends only after three idle rounds.
        while idle < 3 {
            idle += 1;
            let mut at = 0;
            while let Some(pending) = self.pending.get(at) {
                let before = self.in_force();
                let has_ended = match &pending.what {
                    Activity::Do(op) if op.id().is_some() => self.go_on_with(op.id())?,
                    _ => self.poll_pending(at)?,
                };
                if has_ended || before != self.in_force() {
                    idle = 0;
                }
                at = if has_ended { 0 } else { at + 1 };
            }
        }
        Ok(())
    }

    /// Polls the operations that select this document until none of them makes progress. Returns
    /// whether one has ended.
    ///
    /// Updates that are committed together become visible together, perhaps when another operation
    /// on the document is polled, so nothing else may run before all their results are checked.
    fn go_on_with(&mut self, id: Option<i32>) -> Result<bool, String> {
        let before = self.pending.len();
        while self.poll_selecting(id, true)? || self.poll_selecting(id, false)? {}
        Ok(self.pending.len() < before)
    }

    /// Polls the operations that select this document, which wait in its queue or do not,
    /// until one of them makes progress; each twice, since a poll may only yield. Returns whether
    /// one has made progress: it has ended, or a commit was published.
    fn poll_selecting(&mut self, id: Option<i32>, queued: bool) -> Result<bool, String> {
        for at in (0..self.pending.len()).chain(0..self.pending.len()) {
            let published = self.kit.store.published();
            let selects = |pending: &PendingOperation| {
                matches!(
                    &pending.what,
                    Activity::Do(op) if op.id() == id && op.is_queued() == queued
                )
            };
            if self.pending.get(at).is_some_and(selects)
                && (self.poll_pending(at)? || published != self.kit.store.published())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Polls the operation at this position once, and checks its result if it ends. Returns whether
    /// it does.
    fn poll_pending(&mut self, at: usize) -> Result<bool, String> {
        let mut pending = self.pending.remove(at);
        let before = self.in_force();
        let answer = pending.task.poll();
        if before != self.in_force() {
            self.take_effect(&mut pending);
        }
        let Some(answer) = answer else {
            self.pending.insert(at, pending);
            return Ok(false);
        };
        self.check_answer(pending, answer)?;
        Ok(true)
    }

    /// Simulates a crash and a restart.
    ///
    /// Commits that were stamped but not published are lost; their callers have not got a result.
    /// The start completes an unfinished index build, so that the index takes effect.
    pub(crate) fn restart(&mut self) -> Checked {
        self.cursors.clear();
        let building = self.is_building();
        let pending = std::mem::take(&mut self.pending);
        if let Some(published) = self.published.take() {
            self.model = published;
        }
        self.kit.restart();
        for pending in pending {
            if let Activity::Do(op) = &pending.what
                // The restarted store has completed the index build.
                && building
                && pending.expected.is_none()
                && self.builds_index(op)
            {
                self.model.apply_op(op);
            }
        }
        Ok(())
    }

    /// Opens a cursor, which reads nothing yet. The instant of its first batch is the instant at
    /// which this batch is requested.
    pub(crate) fn open_cursor(&mut self, sorted: bool) {
        let open = OpenCursor::new(&self.kit, &self.model, sorted);
        self.cursors.push(open);
    }

    /// Returns the number of open cursors.
    pub(crate) fn cursor_count(&self) -> usize {
        self.cursors.len()
    }

    /// Reads the next batch of a cursor.
    pub(crate) fn next_batch(&mut self, which: usize, documents: usize) -> Checked {
        if let Some(mut open) = (which < self.cursors.len()).then(|| self.cursors.remove(which))
            && open.next_batch(&self.model, documents)?
        {
            self.cursors.push(open);
        }
        Ok(())
    }

    /// Returns whether a write would first mark an index as multikey. That would be a separate
    /// commit before the commit of the write, and would be held in its place.
    pub(crate) fn notes_arrays(&self, op: &Op) -> bool {
        let state = self.kit.collection().state();
        let mut plain = state.record.indexes.iter().filter(|index| !index.multikey);
        let held = op.id().and_then(|id| self.model.live_document(id));
        let has = |path: &str| {
            let array = |doc: &Doc| matches!(doc.body.get(path), Some(Value::Array(_)));
            held.is_some_and(array)
        };
        let arrays = |path: &str| op.puts_array_at(path) || has(path);
        plain.any(|index| index.key.iter().any(|(path, _)| arrays(path)))
    }

    /// Reads along every path.
    ///
    /// This runs at the end of a history, when no operation is in progress: the results of all
    /// paths have to match the model.
    pub(crate) fn read_everywhere(&mut self, ids: i32) -> Checked {
        let indexes: Vec<_> = self.model.indexes.keys().copied().collect();
        let mut paths = vec![Path::Scan, Path::Backward, Path::Count, Path::Forecast];
        paths.extend(indexes.into_iter().map(Path::Index));
        paths.extend((0..ids).map(Path::Point));
        paths.extend((0..4).map(Path::ByU));
        paths.push(Path::Preview(Some(2)));
        for path in paths {
            let (engine, name) = (self.kit.engine.clone(), self.kit.namespace());
            let seen = ready(path.clone().read_along(engine, name));
            expect_same(&path, &seen, &path.expected_in(&self.model))?;
        }
        Ok(())
    }
}
