//! The engine beside the model, with operations that are held between stamp and publication,
//! stopped inside their view, or waiting for either.
//!
//! The model is at one of three states for an operation that is under way:
//!
//! ```text
//!  start       what was to be seen when the operation began
//!  published   what is to be seen now, while a commit is held
//!  model       what is ordered: the held commit included
//! ```
//!
//! An operation that ran through has to agree with `published`. One that was stopped inside its
//! view agrees with `start`, for its view is of then. One that changes something takes effect in
//! `model` the moment it is ordered, and its caller is told so later.

use document::Value;
use engine::{Namespace, Rules};
use test_kit::{Kit, START_MS, Setup, Task, ready};

use crate::{
    cursor::OpenCursor,
    dialect::ParsedDialect,
    model::{Doc, Model},
    op::{Op, Outcome},
    path::{Path, Seen},
};

/// What an operation under way does.
#[derive(Clone, Debug)]
enum Activity {
    /// It looks at what is there.
    Look(Path),
    /// It may change something.
    Do(Op),
    /// It compacts expired rows away.
    Reap,
}

/// What an operation under way returned.
#[derive(Debug)]
enum ActivityAnswer {
    /// To one that looked.
    Seen(Seen),
    /// To one that changed something.
    Told(Outcome),
    /// To the reaper.
    Reaped,
}

/// An operation under way.
#[derive(Debug)]
struct UnderWay {
    /// What it does, to be checked against the model.
    what: Activity,
    /// Polled by hand.
    task: Task<ActivityAnswer>,
    /// What was to be seen when it began.
    start: Model,
    /// No commit was in flight then: its view is settled.
    clean: bool,
    /// It was stopped inside its view.
    stopped: bool,
    /// Its effect is in the model already, and its caller has to be told this.
    told: Option<Outcome>,
}

/// The engine and the model.
#[derive(Debug)]
pub(crate) struct World {
    /// The engine, its store and its clock.
    kit: Kit,
    /// Everything that is ordered.
    pub(crate) model: Model,
    /// Everything that is published, while a commit is held.
    published: Option<Model>,
    /// The one whose commit is held comes first.
    under: Vec<UnderWay>,
    /// Queries between two batches.
    cursors: Vec<OpenCursor>,
    /// Of the reaper; its clock goes on by one second each.
    passes: u64,
}

/// How an operation is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It runs to its end.
    Through,
    /// Its commit is held between stamp and publication.
    Held,
    /// It is stopped at this read.
    Stopped(u64),
}

/// What does not agree, in words.
type Checked = Result<(), String>;

/// Fails when two things differ, and names both.
fn expect_same<T: PartialEq + std::fmt::Debug>(
    what: &dyn std::fmt::Debug,
    got: &T,
    want: &T,
) -> Checked {
    if got == want { Ok(()) } else { Err(format!("{what:?}: got {got:?}, expected {want:?}")) }
}

impl World {
    /// An empty collection, under all rules or all but one.
    pub(crate) fn new(rules: Rules) -> Self {
        let dialect = std::sync::Arc::new(ParsedDialect);
        let kit = Kit::new(Setup { rules, dialect, ..Setup::default() });
        let model = Model::new(START_MS);
        Self { kit, model, published: None, under: Vec::new(), cursors: Vec::new(), passes: 0 }
    }

    /// What is to be seen now.
    fn visible_model(&self) -> &Model {
        self.published.as_ref().unwrap_or(&self.model)
    }

    /// Whether a commit is held between stamp and publication.
    pub(crate) fn is_held(&self) -> bool {
        self.published.is_some()
    }

    /// Whether an operation is stopped inside its view.
    pub(crate) fn has_stopped(&self) -> bool {
        self.under.iter().any(|under| under.stopped)
    }

    /// Whether a change of settings is under way.
    pub(crate) fn changes_settings(&self) -> bool {
        let changes =
            |under: &UnderWay| matches!(&under.what, Activity::Do(op) if op.is_settings());
        self.under.iter().any(changes)
    }

    /// How many operations are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.under.len()
    }

    /// The operation, not begun yet.
    fn task_of(&mut self, what: &Activity) -> Task<ActivityAnswer> {
        let (engine, name): (_, Namespace) = (self.kit.engine.clone(), self.kit.namespace());
        match what.clone() {
            Activity::Look(path) => {
                Task::new(async move { ActivityAnswer::Seen(path.look_along(engine, name).await) })
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

    /// What says which settings are in force in the engine.
    fn in_force(&self) -> String {
        let record = &self.kit.collection().state().record;
        let indexes = record.indexes.iter().map(|index| {
            let rule = record.settings.dates.iter().find(|rule| rule.index == index.id);
            (index.id, index.ready, rule.and_then(|rule| rule.after_s))
        });
        format!("{:?} {:?}", record.settings.default, indexes.collect::<Vec<_>>())
    }

    /// Begins an operation and takes it as far as it gets.
    ///
    /// A held one is polled while the gate is shut: its commit is stamped, and it waits for the
    /// publication. A stopped one is polled until the turnstile stops its n-th read. One that got
    /// to its end before that is checked at once.
    fn begin_operation(&mut self, what: Activity, how: How) -> Checked {
        match how {
            How::Through => {}
            How::Held => self.kit.store.gate().shut(),
            How::Stopped(nth) => self.kit.store.turnstile().stop_nth(nth),
        }
        let before = self.in_force();
        let task = self.task_of(&what);
        let (start, clean) = (self.visible_model().clone(), !self.is_held());
        let mut under = UnderWay { what, task, start, clean, stopped: false, told: None };
        // Once: it ends, waits for a held commit, or stands at the turnstile.
        let answer = under.task.poll();
        self.kit.store.turnstile().disarm();
        if before != self.in_force() {
            self.take_effect(&mut under);
        }
        match answer {
            Some(answer) => {
                if how == How::Held {
                    self.kit.store.gate().open();
                }
                return self.check_answer(under, answer);
            }
            None if how == How::Held => self.hold_commit(under),
            None => {
                under.stopped = matches!(how, How::Stopped(_)) && clean;
                self.under.push(under);
            }
        }
        Ok(())
    }

    /// The operation's first commit is stamped, and is published when the gate opens.
    ///
    /// From here on there are two truths: `published` is what everybody sees, `model` is what is
    /// ordered. Only one commit is held at a time, so that two are enough.
    fn hold_commit(&mut self, mut under: UnderWay) {
        self.published = Some(self.model.clone());
        if let Activity::Do(op) = &under.what
            && !self.builds_index(op)
        {
            under.told = Some(self.model.apply_op(op));
        }
        // First in line when the gate opens.
        self.under.insert(0, under);
    }

    /// Whether an index is not complete or not in force yet.
    ///
    /// Such an index serves no query, and a date index that is not active expires nothing: the
    /// model learns of it when it is in force.
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

    /// Whether the effect of an operation comes with a later commit than its first.
    ///
    /// The first commit only makes the index known to writers, and nobody sees a difference.
    fn builds_index(&self, op: &Op) -> bool {
        match op {
            Op::CreateIndex { .. } => true,
            Op::ChangeIndex { name, .. } => {
                self.model.indexes.get(name).is_some_and(|index| index.after.is_none())
            }
            _ => false,
        }
    }

    /// A change of settings came into force while its operation goes on.
    ///
    /// A change of settings is in force when its commit is published, which may be long before its
    /// operation ends: the build of counters goes on after that.
    fn take_effect(&mut self, under: &mut UnderWay) {
        let Activity::Do(op) = &under.what else { return };
        if under.told.is_some() || !op.is_settings() {
            return;
        }
        if !self.is_building() || !self.builds_index(op) {
            under.told = Some(self.model.apply_op(op));
        }
    }

    /// Compares what an operation returned with what it should have.
    fn check_answer(&mut self, under: UnderWay, answer: ActivityAnswer) -> Checked {
        match (&under.what, answer) {
            (Activity::Look(path), ActivityAnswer::Seen(seen)) => {
                self.check_look(&under, path, &seen)
            }
            (Activity::Do(op), ActivityAnswer::Told(told)) => self.check_op(&under, op, told),
            _ => Ok(()),
        }
    }

    /// What was seen is what there was: in the view's moment, and, where the look ran through while
    /// settings change, also by the settings to come.
    fn check_look(&self, under: &UnderWay, path: &Path, seen: &Seen) -> Checked {
        // An index that was named is not there any more, or not built yet.
        if *seen == Seen::Gone && under.start.indexes != self.model.indexes {
            return Ok(());
        }
        let then = if under.stopped { &under.start } else { self.visible_model() };
        expect_same(path, seen, &path.expected_in(then))?;
        if !under.stopped && self.holds_settings() {
            // Its instant is later than the change.
            expect_same(&("while settings change", path), seen, &path.expected_in(&self.model))?;
        }
        if !under.stopped && (path.sees_all() || path.id().is_some()) {
            self.check_risen(path.id(), path)?;
        }
        Ok(())
    }

    /// Whether the commit that is held changes settings at its stamp.
    fn holds_settings(&self) -> bool {
        let first = self.under.first().filter(|under| self.is_held() && under.told.is_some());
        first.is_some_and(|under| matches!(&under.what, Activity::Do(op) if op.is_settings()))
    }

    /// What is seen as expired now must not live in what is ordered already.
    fn check_risen(&self, id: Option<i32>, what: &dyn std::fmt::Debug) -> Checked {
        match self.visible_model().rises_in(&self.model, id) {
            Some(id) => Err(format!("{what:?} saw {id} expired, which is renewed already")),
            None => Ok(()),
        }
    }

    /// The caller was told what the model says, and the model takes the effect over, where it has
    /// not yet. While a commit is held, no other operation may have had an effect.
    fn check_op(&mut self, under: &UnderWay, op: &Op, told: Outcome) -> Checked {
        if let Some(want) = &under.told {
            return expect_same(op, &told, want);
        }
        let mut after = self.visible_model().clone();
        let mut want = after.apply_op(op);
        let mut idle = after.live_documents().eq(self.visible_model().live_documents());
        if told != want && (under.stopped || !under.clean) {
            // It had no effect, and may have been decided in the view it began with.
            let mut then = under.start.clone();
            want = then.apply_op(op);
            idle = then.live_documents().eq(under.start.live_documents());
            after = self.visible_model().clone();
            if !idle {
                return Err(format!("{op:?}: told {told:?}, which is neither now nor then"));
            }
        }
        expect_same(op, &told, &want)?;
        if !self.is_held() {
            self.model = after;
            return Ok(());
        }
        if !idle {
            return Err(format!("{op:?} had its effect while another commit was held"));
        }
        match op.id() {
            Some(id) if !under.stopped => self.check_risen(Some(id), op),
            _ => Ok(()),
        }
    }

    /// Does an operation.
    pub(crate) fn operate(&mut self, op: Op, how: How) -> Checked {
        self.begin_operation(Activity::Do(op), how)
    }

    /// Looks.
    pub(crate) fn look(&mut self, path: Path, how: How) -> Checked {
        self.begin_operation(Activity::Look(path), how)
    }

    /// Reaps.
    pub(crate) fn reap(&mut self) -> Checked {
        self.begin_operation(Activity::Reap, How::Through)
    }

    /// Moves the clock.
    pub(crate) fn move_to(&mut self, ms: i64) {
        self.kit.move_to(ms - START_MS);
        self.model.move_to(ms);
        if let Some(published) = &mut self.published {
            published.move_to(ms);
        }
    }

    /// Publishes the commit that is held, and lets everybody go on who waited for it.
    /// From here on there is one truth again.
    pub(crate) fn open_gate(&mut self) -> Checked {
        self.kit.store.gate().open();
        self.published = None;
        self.go_on()
    }

    /// Lets the operation that is stopped go on.
    pub(crate) fn let_go(&mut self) -> Checked {
        self.kit.store.turnstile().open();
        self.go_on()
    }

    /// Polls everybody until nobody gets any further.
    fn go_on(&mut self) -> Checked {
        let mut idle = 0;
        // One that goes on may let another go on: only three rounds without progress are the end.
        while idle < 3 {
            idle += 1;
            let mut at = 0;
            while at < self.under.len() {
                let mut under = self.under.remove(at);
                let before = self.in_force();
                let answer = under.task.poll();
                if before != self.in_force() {
                    idle = 0;
                    self.take_effect(&mut under);
                }
                match answer {
                    Some(answer) => {
                        idle = 0;
                        self.check_answer(under, answer)?;
                    }
                    None => {
                        self.under.insert(at, under);
                        at += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Kills the process and starts it again.
    ///
    /// What was ordered and not published is lost with the process; its caller was told nothing. An
    /// index that was being built is completed by the start, and so takes effect after all.
    pub(crate) fn restart(&mut self) -> Checked {
        self.cursors.clear();
        let building = self.is_building();
        let under = std::mem::take(&mut self.under);
        if let Some(published) = self.published.take() {
            self.model = published;
        }
        self.kit.restart();
        for under in under {
            if let Activity::Do(op) = &under.what
                // The start has finished what was being built.
                && building
                && under.told.is_none()
                && self.builds_index(op)
            {
                self.model.apply_op(op);
            }
        }
        Ok(())
    }

    /// Opens a cursor.
    /// It reads nothing yet: its first batch is of the moment in which it is asked for.
    pub(crate) fn open_cursor(&mut self, sorted: bool) {
        let open = OpenCursor::new(&self.kit, &self.model, sorted);
        self.cursors.push(open);
    }

    /// How many cursors are open.
    pub(crate) fn cursor_count(&self) -> usize {
        self.cursors.len()
    }

    /// Goes on with a cursor.
    pub(crate) fn next_batch(&mut self, which: usize, documents: usize) -> Checked {
        if let Some(mut open) = (which < self.cursors.len()).then(|| self.cursors.remove(which))
            && open.next_batch(&self.model, documents)?
        {
            self.cursors.push(open);
        }
        Ok(())
    }

    /// Whether a write would first note in an index that there are arrays.
    /// That note is a commit of its own, before the write's, and would be the one that is held.
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

    /// Looks along every path.
    ///
    /// At the end of a history, when nothing is under way: no path may have kept a document, or
    /// lost one, that others show.
    pub(crate) fn look_everywhere(&mut self, ids: i32) -> Checked {
        let indexes: Vec<_> = self.model.indexes.keys().copied().collect();
        let mut paths = vec![Path::Scan, Path::Backward, Path::Count, Path::Forecast];
        paths.extend(indexes.into_iter().map(Path::Index));
        paths.extend((0..ids).map(Path::Point));
        paths.extend((0..4).map(Path::ByU));
        paths.push(Path::Preview(Some(2)));
        for path in paths {
            let (engine, name) = (self.kit.engine.clone(), self.kit.namespace());
            let seen = ready(path.clone().look_along(engine, name));
            expect_same(&path, &seen, &path.expected_in(&self.model))?;
        }
        Ok(())
    }
}
