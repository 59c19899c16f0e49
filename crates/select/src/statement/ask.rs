//! Properties of a bound query that the driver (the caller, which scans the rows) needs before it
//! scans: whether an index yields the query's order, whether it only counts, which system
//! properties it reads, whether it can stop at any row.

use document::{DocRef, ValueRef};
use evaluation::{Context, Error, Evaluated};

use super::{Flow, source::expand_rows};
use crate::{
    aggregate::AggregateKind,
    eval::Env,
    plan::{DOCUMENT, Expr, Input, Projection, SYSTEM_PROPERTIES, Select, Window},
};

impl Select {
    /// Returns the document paths of ORDER BY, each with whether it descends. `None` if there is no
    /// ORDER BY or it uses anything but such paths, so that no index can yield its order.
    pub fn order_paths(&self) -> Option<Vec<(Vec<String>, bool)>> {
        let clauses = self.clauses();
        let whole = clauses.group.is_none() && self.scans_documents() && !clauses.order.is_empty();
        let paths = clauses.order.iter().map(|order| match &order.by {
            Expr::Path(DOCUMENT, names) => Some((names.clone(), order.descending)),
            _ => None,
        });
        if whole { paths.collect() } else { None }
    }

    /// Returns whether the query only counts the documents: `SELECT VALUE COUNT(1) FROM c`.
    pub fn scalar_count_only(&self) -> bool {
        let clauses = self.clauses();
        let Some(group) = &clauses.group else { return false };
        let [aggregate] = group.aggregates.as_slice() else { return false };
        let plain = matches!(clauses.from.as_slice(), [source] if matches!(source.input, Input::Root))
            && clauses.filter.is_none()
            && group.keys.is_empty()
            && clauses.order.is_empty()
            && clauses.window == Window::default();
        let counts =
            aggregate.kind == AggregateKind::Count && matches!(aggregate.of, Expr::Constant(_));
        let value = matches!(&clauses.projection,
            Projection::Value(Expr::Slot(slot)) if *slot == aggregate.slot);
        plain && counts && value
    }

    /// Returns which clauses need the system properties of a document, because they read one of
    /// them or the whole document. The driver may omit these properties elsewhere, which saves
    /// making them for every row.
    pub fn system_reads(&self) -> SystemReads {
        let clauses = self.clauses();
        let collects = clauses.from.iter().any(|from| matches!(from.input, Input::Collected(_)));
        let throughout = collects || clauses.group.is_some();
        if needs_system(|see| self.visit_row_reads(see))
            || (throughout && needs_system(|see| self.visit_reads(see)))
        {
            SystemReads::Everywhere
        } else if needs_system(|see| clauses.projection.visit_reads(see)) {
            SystemReads::InResults
        } else {
            SystemReads::Nowhere
        }
    }

    /// Returns whether a document makes a row that WHERE keeps. This serves conditions on a single
    /// document, such as the condition of a patch.
    pub fn keeps_document(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        let clauses = self.clauses();
        let mut env = Env::new(clauses.slots, context);
        env.set_slot(DOCUMENT, Evaluated::Ref(ValueRef::Document(document)));
        let flow = expand_rows(&clauses.from, &mut env, &mut |env| {
            Ok(if clauses.where_keeps(env)? { Flow::Enough } else { Flow::More })
        })?;
        Ok(flow == Flow::Enough)
    }

    /// Returns whether the query reads documents, which a query without FROM does not.
    pub fn scans_documents(&self) -> bool {
        match self.clauses().from.first().map(|source| &source.input) {
            None => false,
            Some(Input::Collected(inner)) => inner.scans_documents(),
            Some(_) => true,
        }
    }

    /// Returns whether rows become results one by one, in the order of row keys. A driver that
    /// feeds them in that order may stop at any row, and only the page is held in memory.
    pub fn streams_rows(&self) -> bool {
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

/// The clauses of a query that read system properties of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemReads {
    /// No clause reads system properties; the driver may always omit them.
    Nowhere,
    /// Only SELECT reads system properties; the driver adds them to documents that make a result.
    InResults,
    /// Other clauses read system properties; the driver adds them to every row.
    Everywhere,
}

/// Returns whether one of these reads needs the whole document or a property that the server sets.
fn needs_system(reads: impl FnOnce(&mut dyn FnMut(usize, &[String]))) -> bool {
    let mut needs = false;
    reads(&mut |slot, names| {
        let system = names.first().is_none_or(|name| SYSTEM_PROPERTIES.contains(&name.as_str()));
        needs |= slot == DOCUMENT && system;
    });
    needs
}
