//! Queries on stored views: a query runs on the collection below a view, with the view's stages
//! before its own. A view may lie over another view, and stages may join views.
//!
//! ```text
//! v: [A] over w    w: [B] over c
//! query [Q] on v   becomes   [B, A, Q] on c
//! ```
//!
//! Names are resolved when a query begins and stay as they are until it ends. Definitions that refer
//! to each other in a circle are refused here even if they were checked when they were stored: two
//! definitions that are stored at the same time may form one.

use std::{collections::BTreeMap, sync::Arc};

use evaluation::Context;
use geometry::near_not_first;
use pipeline::{Filter, exec::Stage};

use super::{Plan, other::namespaces_read};
use crate::{
    catalog::Collection,
    engine::Engine,
    error::Error,
    limits::{MAX_STORED_VIEW_BYTES, MAX_STORED_VIEW_DEPTH},
    names::{Model, Namespace},
};

/// Error number: views are nested too deeply.
const TOO_DEEP: i32 = 165;
/// Error number: the pipelines of nested views are too large together.
const TOO_LARGE: i32 = 195;
/// Error number: a query compares texts in another way than a view that it reads.
const OTHER_COLLATION: i32 = 167;
/// Error number: views refer to each other in a circle.
const CIRCULAR: i32 = 5;

/// The collection that a name denotes, and the stages of the views above it.
#[derive(Clone, Debug)]
pub(super) struct ResolvedName {
    /// Name of the collection below all views; the resolved name itself if it is not a view.
    pub(super) namespace: Namespace,
    /// The collection; `None` if it does not exist.
    pub(super) collection: Option<Arc<Collection>>,
    /// Stages of the views, those of the lowest view first.
    stages: Vec<Stage>,
    /// Whether the name denotes a view.
    is_view: bool,
}

impl ResolvedName {
    /// Returns the plan over the collection that has the result of a plan over the resolved name.
    /// Leading filters become the filter of the plan, so that an index can serve them.
    pub(super) fn plan_below(&self, plan: Plan) -> Plan {
        // A query that selects nothing reads nothing, also through views.
        if self.stages.is_empty() || matches!(plan.filter, Filter::Never) {
            return plan;
        }
        let Plan { filter, stages, hint, output } = plan;
        let mut all = self.stages.clone();
        if !filter.is_always() {
            all.push(Stage::Match(filter));
        }
        all.extend(stages);
        Plan { filter: Filter::always(), stages: all, hint, output }.with_leading_filters()
    }
}

/// The collections that the stages of a query join, with the views among them resolved.
#[derive(Debug, Default)]
pub(super) struct JoinedNames {
    resolved: BTreeMap<Namespace, ResolvedName>,
}

impl JoinedNames {
    /// Returns the name of the collection and the plan over it that answer a plan over a joined
    /// name.
    ///
    /// # Errors
    ///
    /// 40602 for a search by distance in a view with stages, which precede it.
    pub(super) fn below(
        &self,
        namespace: Namespace,
        plan: Plan,
    ) -> Result<(Namespace, Plan), Error> {
        match self.resolved.get(&namespace) {
            Some(resolved) if !resolved.stages.is_empty() && plan.filter.near().is_some() => {
                Err(near_not_first().into())
            }
            Some(resolved) => Ok((resolved.namespace.clone(), resolved.plan_below(plan))),
            None => Ok((namespace, plan)),
        }
    }

    /// Returns the names of the joined collections, without duplicates.
    pub(super) fn collections(&self) -> Vec<Namespace> {
        let mut names: Vec<Namespace> = Vec::new();
        for resolved in self.resolved.values() {
            if !names.contains(&resolved.namespace) {
                names.push(resolved.namespace.clone());
            }
        }
        names
    }
}

/// Resolves the names in one query. The memory of the definitions is held until its operation ends.
pub(super) struct Resolver<'q> {
    pub(super) engine: &'q Engine,
    pub(super) model: Model,
    pub(super) context: &'q Context,
}

impl Resolver<'_> {
    /// Follows the views from a name, under which `collection` was found, down to a collection.
    ///
    /// # Errors
    ///
    /// 165 if more than [`MAX_STORED_VIEW_DEPTH`] views lie over each other, 195 if their pipelines
    /// are too large together, and 167 for a view whose collation is not that of the query.
    pub(super) fn resolve(
        &self,
        name: &Namespace,
        mut collection: Option<Arc<Collection>>,
    ) -> Result<ResolvedName, Error> {
        let (mut stages, mut bytes) = (Vec::new(), 0);
        let mut namespace = name.clone();
        for depth in 0..=MAX_STORED_VIEW_DEPTH {
            let dialect = &self.engine.inner.dialect;
            let view = match &collection {
                Some(collection) => dialect.stored_view(&collection.state().record)?,
                None => None,
            };
            let Some(view) = view else {
                return Ok(ResolvedName { namespace, collection, stages, is_view: 0 < depth });
            };
            let compares = collection.as_ref().and_then(|view| view.state().collation.clone());
            if self.context.collation() != compares.as_deref() {
                let message = format!("Cannot override default collation of view {namespace}");
                return Err(refused(OTHER_COLLATION, message));
            }
            bytes += view.bytes;
            if MAX_STORED_VIEW_BYTES < bytes {
                let message = format!(
                    "View pipeline exceeds maximum size; maximum size is {MAX_STORED_VIEW_BYTES}"
                );
                return Err(refused(TOO_LARGE, message));
            }
            self.context.budget.spend(view.bytes)?;
            self.context.operation_memory.keep_for_operation(view.bytes)?;
            stages.splice(..0, view.stages);
            namespace.collection = view.source;
            collection = self.engine.collection(self.model, &namespace);
        }
        Err(too_deep())
    }

    /// Resolves all names that the stages of a query on `main` join, at any depth. `asked` are the
    /// query's own stages.
    ///
    /// # Errors
    ///
    /// 5 if a view reads itself, and those of [`resolve`](Self::resolve).
    pub(super) fn resolve_joined(
        &self,
        name: &Namespace,
        main: &ResolvedName,
        asked: &[Stage],
    ) -> Result<JoinedNames, Error> {
        let mut joined = JoinedNames::default();
        let mut path = Vec::new();
        self.add_joined(asked, &name.database, &mut path, &mut joined)?;
        if main.is_view {
            path.push(name.clone());
            self.add_joined(&main.stages, &name.database, &mut path, &mut joined)?;
        }
        Ok(joined)
    }

    /// Adds the names that stages join. `path` are the views that lead to the stages; a name on it
    /// would be read without end.
    fn add_joined(
        &self,
        stages: &[Stage],
        database: &str,
        path: &mut Vec<Namespace>,
        joined: &mut JoinedNames,
    ) -> Result<(), Error> {
        for name in namespaces_read(stages, database) {
            if path.contains(&name) {
                let message = format!("View cycle detected: {name} reads itself");
                return Err(refused(CIRCULAR, message));
            }
            if joined.resolved.contains_key(&name) {
                continue;
            }
            let resolved = self.resolve(&name, self.engine.collection(self.model, &name))?;
            if resolved.is_view {
                if MAX_STORED_VIEW_DEPTH <= path.len() {
                    return Err(too_deep());
                }
                path.push(name.clone());
                self.add_joined(&resolved.stages, &name.database, path, joined)?;
                path.pop();
            }
            joined.resolved.insert(name, resolved);
        }
        Ok(())
    }
}

fn too_deep() -> Error {
    let message = format!(
        "View depth too deep or view cycle detected; maximum depth is {MAX_STORED_VIEW_DEPTH}"
    );
    refused(TOO_DEEP, message)
}

/// Returns the error of a query whose views cannot be resolved.
fn refused(number: i32, message: String) -> Error {
    evaluation::Error::new(evaluation::Kind::Invalid, number, message).into()
}
