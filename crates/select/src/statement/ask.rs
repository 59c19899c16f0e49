//! What a driver asks a bound query before it scans.

use document::{DocRef, ValueRef};
use evaluation::{Context, Error, Evaluated};

use super::{Flow, source::expand};
use crate::{
    aggregate::Kind,
    eval::Env,
    plan::{DOCUMENT, Expr, Input, Projection, SYSTEM_PROPERTIES, Select, Window},
};

impl Select {
    /// The paths of the stored document that ORDER BY consists of, each with whether it descends;
    /// none when it is absent or orders by anything else.
    pub fn order_paths(&self) -> Option<Vec<(Vec<String>, bool)>> {
        let clauses = self.clauses();
        let whole = clauses.group.is_none() && self.scans() && !clauses.order.is_empty();
        let paths = clauses.order.iter().map(|order| match &order.by {
            Expr::Path(DOCUMENT, names) => Some((names.clone(), order.descending)),
            _ => None,
        });
        if whole { paths.collect() } else { None }
    }

    /// Whether it only counts the documents: `SELECT VALUE COUNT(1) FROM c`.
    pub fn scalar_count_only(&self) -> bool {
        let clauses = self.clauses();
        let Some(group) = &clauses.group else { return false };
        let [aggregate] = group.aggregates.as_slice() else { return false };
        let plain = matches!(clauses.from.as_slice(), [source] if matches!(source.input, Input::Root))
            && clauses.filter.is_none()
            && group.keys.is_empty()
            && clauses.order.is_empty()
            && clauses.window == Window::default();
        let counts = aggregate.kind == Kind::Count && matches!(aggregate.of, Expr::Constant(_));
        let value = matches!(&clauses.projection,
            Projection::Value(Expr::Slot(slot)) if *slot == aggregate.slot);
        plain && counts && value
    }

    /// Where it reads the stored document as a whole or one of the properties that the system adds;
    /// elsewhere the driver may leave those away.
    pub fn system(&self) -> System {
        let clauses = self.clauses();
        let collects = clauses.from.iter().any(|from| matches!(from.input, Input::Collected(_)));
        let throughout = collects || clauses.group.is_some();
        if needs_system(|see| self.reads_rows(see))
            || (throughout && needs_system(|see| self.reads(see)))
        {
            System::Everywhere
        } else if needs_system(|see| clauses.projection.reads(see)) {
            System::InResults
        } else {
            System::Nowhere
        }
    }

    /// Whether a document makes a row that WHERE keeps: the query as a condition on one document.
    pub fn keeps(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        let clauses = self.clauses();
        let mut env = Env::new(clauses.slots, context);
        env.set(DOCUMENT, Evaluated::Ref(ValueRef::Document(document)));
        let flow = expand(&clauses.from, &mut env, &mut |env| {
            Ok(if clauses.keeps(env)? { Flow::Enough } else { Flow::More })
        })?;
        Ok(flow == Flow::Enough)
    }

    /// Whether it reads documents at all: it has a FROM, which is not about a query without one.
    pub fn scans(&self) -> bool {
        match self.clauses().from.first().map(|source| &source.input) {
            None => false,
            Some(Input::Collected(inner)) => inner.scans(),
            Some(_) => true,
        }
    }

    /// Whether rows become results one by one, in the order of row keys: a driver that feeds them
    /// in that order may stop at any row.
    pub fn streams(&self) -> bool {
        let clauses = self.clauses();
        clauses.order.is_empty()
            && clauses.group.is_none()
            && !clauses.distinct
            && !matches!(
                clauses.from.first().map(|source| &source.input),
                Some(Input::Collected(_))
            )
    }
}

/// Where a query reads properties that the system adds to a stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Nowhere.
    Nowhere,
    /// Only in what rows become.
    InResults,
    /// Wherever.
    Everywhere,
}

fn needs_system(reads: impl FnOnce(&mut dyn FnMut(usize, &[String]))) -> bool {
    let mut needs = false;
    reads(&mut |slot, names| {
        let system = names.first().is_none_or(|name| SYSTEM_PROPERTIES.contains(&name.as_str()));
        needs |= slot == DOCUMENT && system;
    });
    needs
}
