//! Running a query over rows that come in any order: results and groups are kept until all rows
//! came, no more of them than the page may need.

use evaluation::{Context, Error, Evaluated, Kind, Size, numbers::LIMIT_EXCEEDED};

use super::{Flow, Output, Run};
use crate::{
    eval::Env,
    limits::MAX_RUN_BYTES,
    plan::{Clauses, DOCUMENT, Group, Projection, Select},
};

impl Run {
    /// How many results the page may need, and whether none of them is passed over.
    pub(super) fn need(&self) -> (usize, bool) {
        let window = self.clauses().window;
        let skip = window.skip.saturating_sub(self.done);
        // What stands before a mark that was cut is only known when all is there.
        if self.resume.as_ref().is_some_and(|resume| !resume.whole) {
            return (usize::MAX, false);
        }
        let items = u64::try_from(self.limit.items).unwrap_or(u64::MAX);
        let most = skip.saturating_add(items).saturating_add(1);
        let most = most.min(window.end().saturating_sub(self.done));
        (usize::try_from(most).unwrap_or(usize::MAX), skip == 0)
    }

    /// Keeps a result that may be in the page.
    pub(super) fn keep<'a>(
        &mut self,
        clauses: &'a Clauses,
        env: &mut Env<'a>,
        position: &[u8],
        ordinal: u64,
    ) -> Result<(), Error> {
        let mut place = Vec::new();
        env.keep()?;
        clauses.order_key(env, &mut place)?;
        let by_value = clauses.distinct;
        let (most, none_passed_over) = self.need();
        if !by_value {
            clauses.push_position(position, &mut place);
            if self.is_outside(&place, ordinal, most) {
                return Ok(());
            }
        }
        env.complete();
        let value = clauses.projection.of(env)?;
        if value.value().is_none() {
            return Ok(());
        }
        if by_value && !clauses.order.is_empty() && !clauses.order_in_output {
            let mut key = Vec::new();
            env.identity(&value, &mut key)?;
            clauses.push_position(position, &mut place);
            let Some(value) = Output::new(value) else { return Ok(()) };
            self.firsts.add(key, place, ordinal, value);
            return self.hold();
        }
        let mut ordinal = ordinal;
        if by_value {
            ordinal = 0;
            env.identity(&value, &mut place)?;
            if self.is_outside(&place, 0, most) || self.kept.has(&place, &value) {
                return Ok(());
            }
        }
        let Some(value) = Output::new(value) else { return Ok(()) };
        env.spend(self.kept.add(place, ordinal, value))?;
        self.kept.shrink(most, if none_passed_over { self.limit.bytes } else { usize::MAX });
        self.hold()
    }

    /// Fails when the run holds more than it may, or than is left for it.
    fn hold(&mut self) -> Result<(), Error> {
        let kept = self.kept.memory().saturating_add(self.firsts.memory());
        let held = kept.saturating_add(self.groups.bytes()).saturating_add(self.finishing);
        if MAX_RUN_BYTES < held {
            let text = format!(
                "the query holds more memory than allowed: more than {MAX_RUN_BYTES} bytes"
            );
            return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
        }
        Ok(self.held.set(held)?)
    }

    fn is_outside(&self, place: &[u8], ordinal: u64, most: usize) -> bool {
        self.resume.as_ref().is_some_and(|resume| !resume.may_be_behind(place, ordinal))
            || self.kept.is_behind(place, most)
    }

    pub(super) fn join_group<'a>(
        &mut self,
        clauses: &'a Clauses,
        group: &'a Group,
        env: &mut Env<'a>,
        position: &[u8],
    ) -> Result<(), Error> {
        let plain = clauses.order.is_empty() && !clauses.distinct;
        // A group may come to nothing, so that more of them may be needed than there are results.
        let certain = plain && matches!(clauses.projection, Projection::Fields(_));
        let most = if certain { self.need().0 } else { usize::MAX };
        let resume = self.resume.as_ref().filter(|_| plain);
        let groups = &mut self.groups;
        let mut behind = false;
        let before = |key: &[u8]| resume.is_some_and(|resume| !resume.may_be_behind(key, 0));
        if most != usize::MAX {
            env.keep()?;
            let mut key = Vec::new();
            for (expr, _) in &group.keys {
                let value = expr.eval(env)?;
                env.identity(&value, &mut key)?;
            }
            behind = groups.is_behind(&key, most);
        }
        if !behind {
            groups.add(group, env, position, |key| !before(key))?;
            groups.shrink(most);
        }
        self.hold()
    }

    /// The groups make results.
    pub(super) fn grouped(
        &mut self,
        plan: &Select,
        group: &Group,
        context: &Context,
    ) -> Result<(), Error> {
        let clauses = plan.clauses();
        if group.keys.is_empty() && self.full {
            return Ok(());
        }
        let groups = std::mem::take(&mut self.groups);
        // They are there until all of them have become results.
        self.finishing = groups.bytes();
        let mut env = Env::new(clauses.slots, context);
        groups.finish(group, &mut env, |key, env| {
            self.keep(clauses, env, key, 0)?;
            Ok(Flow::More)
        })?;
        self.finishing = 0;
        Ok(())
    }

    /// What FROM collects, or the one row of a query without FROM, makes rows.
    pub(super) fn collected(&mut self, plan: &Select, context: &Context) -> Result<(), Error> {
        let clauses = plan.clauses();
        let Some(inner) = self.inner.take() else {
            if !plan.scans() && !self.full {
                self.take(plan, &mut Env::new(clauses.slots, context), b"")?;
            }
            return Ok(());
        };
        let slot = clauses.from.first().map_or(DOCUMENT, |source| source.slot);
        let collected = inner.finish(true)?;
        // Until all of them have become rows.
        let _held = collected.held;
        for (at, value) in (0_u64..).zip(collected.values) {
            let mut env = Env::new(clauses.slots, context);
            let value = value.into_value();
            env.spend(Size::of(value.as_ref()).bytes)?;
            env.fill(slot, Evaluated::Own(value))?;
            if self.take(plan, &mut env, &at.to_be_bytes())? == Flow::Enough {
                break;
            }
        }
        Ok(())
    }
}
