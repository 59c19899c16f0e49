//! The index metrics header of a query: the indexes of the policy that serve the query, and the
//! indexes that would serve it if the policy had them. A path counts as indexed if the container's
//! indexing policy includes it, whether or not the engine maintains an index for it at present.
//!
//! ```text
//!  c.name = 'Ann' AND c.age > 15    utilized  /name/?, /age/?    potential  (/name ASC, /age ASC)
//! ```
//!
//! Version 1 is a JSON object in base64, version 2 a percent-encoded JSON object. Both use the same
//! header; the client chooses the version.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{Document, Value, doc};
use engine::{IndexSpec, IndexUse, policy_path};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use select::{
    plan::Select,
    sarg::{PathStep, PathSteps, Sarg, ValueTest},
};

use super::pushdown;
use crate::{
    catalog::Container, container, headers::Headers, partition_key::KeyPath, representation,
};

/// A path of a composite index, and whether its order is descending.
type CompositePath = (String, bool);

/// A query, and the paths of the partition key if the query is limited to one logical partition;
/// otherwise no paths.
pub(super) type AnalyzedQuery<'a> = (&'a Select, &'a [KeyPath]);

/// The indexes that a query uses and could use.
#[derive(Debug, Default)]
pub(super) struct IndexMetrics {
    /// Used indexes of single paths, which the policy has.
    single: Vec<String>,
    /// Indexes of single paths that would help and that the policy does not have.
    potential_single: Vec<String>,
    /// Used composite indexes, which the policy has.
    composite: Vec<Vec<CompositePath>>,
    /// Composite indexes that would help and that the policy does not have.
    potential_composite: Vec<Vec<CompositePath>>,
}

impl IndexMetrics {
    /// Returns the metrics of a query; `None` if the client does not request them.
    pub(super) fn if_requested(
        headers: &Headers,
        container: &Container,
        (plan, partition): AnalyzedQuery<'_>,
    ) -> Option<Self> {
        if !headers.index_metrics() && !headers.index_metrics_v2() {
            return None;
        }
        let (sarg, order) = pushdown::stored_parts(plan, partition);
        let state = container.collection.state();
        let policy = state.record.indexes.iter().find_map(IndexSpec::policy);
        let covers = |steps: &PathSteps| policy.is_some_and(|policy| policy.covers_path(steps));
        let mut found = Self::default();
        // Azure Cosmos DB finds the items of one partition by an index on the partition key path
        // and reports this index as used.
        for steps in partition.iter().map(|key| property_steps(key.parts())) {
            if covers(&steps) {
                push_new(&mut found.single, policy_path(&steps));
            }
        }
        for part in conjuncts(&sarg) {
            found.add_paths(paths_of(part), &covers);
        }
        // A used index that provides the order is added by `header`, since it is known only after
        // the scan.
        let order_path = order.first().filter(|_| order.len() == 1);
        if let Some(steps) = order_path.map(|(names, _)| property_steps(names))
            && !covers(&steps)
        {
            push_new(&mut found.potential_single, policy_path(&steps));
        }
        found.add_composites(&sarg, &order, &container::composites(container.options()));
        Some(found)
    }

    /// Adds the paths of one conjunct of the condition. If all are indexed, they are added as used.
    /// Otherwise the paths without an index are added as potential: if one alternative of a
    /// disjunction has no index, all items must be read, and the other indexes do not help.
    fn add_paths(&mut self, paths: Vec<PathSteps>, covers: &dyn Fn(&PathSteps) -> bool) {
        let lacking: Vec<&PathSteps> = paths.iter().filter(|steps| !covers(steps)).collect();
        let (list, named) = match lacking.is_empty() {
            true => (&mut self.single, paths.iter().collect()),
            false => (&mut self.potential_single, lacking),
        };
        for steps in named {
            push_new(list, policy_path(steps));
        }
    }

    /// Adds the composite indexes for a condition on several paths, and for a condition with an
    /// order. Such an index has first the paths that are compared for equality, then a path with a
    /// range test, or the paths of the order.
    fn add_composites(
        &mut self,
        sarg: &Sarg,
        order: &[(Vec<String>, bool)],
        held: &[Vec<CompositePath>],
    ) {
        let (equal, ranges) = tested_paths(sarg);
        if equal.is_empty() {
            return;
        }
        let behind: Vec<Vec<CompositePath>> = match (order, ranges.as_slice()) {
            ([], []) => vec![Vec::new()],
            ([], ranges) => ranges.iter().map(|path| vec![(path.clone(), false)]).collect(),
            (order, _) => {
                let part = |(names, descending): &(Vec<String>, bool)| {
                    (composite_path(&property_steps(names)), *descending)
                };
                vec![order.iter().map(part).filter(|(path, _)| !equal.contains(path)).collect()]
            }
        };
        for rest in behind {
            if equal.len() + rest.len() < 2 {
                continue;
            }
            match held.iter().find(|parts| serves(parts, &equal, &rest)) {
                Some(parts) if order.is_empty() => push_new(&mut self.composite, parts.clone()),
                Some(_) => {}
                None => {
                    let first = equal.iter().map(|path| (path.clone(), false));
                    push_new(&mut self.potential_composite, first.chain(rest).collect());
                }
            }
        }
    }

    /// Returns the value of the index metrics header, in format version 2 if the client requests
    /// versions 1 and 2. `used` lists the indexes that the engine used for the scan.
    pub(super) fn header(
        &self,
        headers: &Headers,
        container: &Container,
        used: &[IndexUse],
    ) -> String {
        let (mut single, mut composite) = (self.single.clone(), self.composite.clone());
        for used in used {
            match used {
                IndexUse::Path(steps) => push_new(&mut single, policy_path(steps)),
                IndexUse::Order(name) => {
                    if let Some(parts) = container::composite_paths(container.options(), name) {
                        push_new(&mut composite, parts);
                    }
                }
            }
        }
        match headers.index_metrics_v2() {
            true => {
                let text = self.version_2(&single, &composite);
                utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string()
            }
            false => STANDARD.encode(self.version_1(&single, &composite)),
        }
    }

    /// Returns the JSON of version 1. The values "High" and `true` are constant: an index always
    /// serves every part of the condition that it can serve.
    fn version_1(&self, single: &[String], composite: &[Vec<CompositePath>]) -> Vec<u8> {
        let one = |spec: &String| {
            doc! {
                "FilterExpression": "",
                "IndexSpec": spec.as_str(),
                "FilterPreciseSet": true,
                "IndexPreciseSet": true,
                "IndexImpactScore": "High",
            }
        };
        let several = |parts: &Vec<CompositePath>| {
            doc! {
                "IndexSpecs": spec_list(parts),
                "IndexPreciseSet": true,
                "IndexImpactScore": "High",
            }
        };
        representation::resource_text(&doc! {
            "UtilizedSingleIndexes": document_list(single, one),
            "PotentialSingleIndexes": document_list(&self.potential_single, one),
            "UtilizedCompositeIndexes": document_list(composite, several),
            "PotentialCompositeIndexes": document_list(&self.potential_composite, several),
        })
    }

    /// Returns the JSON of version 2.
    fn version_2(&self, single: &[String], composite: &[Vec<CompositePath>]) -> String {
        let section = |single: &[String], composite: &[Vec<CompositePath>]| {
            doc! {
                "SingleIndexes":
                    document_list(single, |spec| doc! { "IndexSpec": spec.as_str() }),
                "CompositeIndexes":
                    document_list(composite, |parts| doc! { "IndexSpecs": spec_list(parts) }),
            }
        };
        let text = representation::resource_text(&doc! {
            "UtilizedIndexes": section(single, composite),
            "PotentialIndexes": section(&self.potential_single, &self.potential_composite),
        });
        String::from_utf8(text).unwrap_or_default()
    }
}

/// Appends an entry unless the list contains it.
fn push_new<T: PartialEq>(list: &mut Vec<T>, entry: T) {
    if !list.contains(&entry) {
        list.push(entry);
    }
}

/// Converts property names to the steps of a path.
fn property_steps(names: &[String]) -> PathSteps {
    names.iter().cloned().map(PathStep::Property).collect()
}

/// Returns the parts of a conjunction. For any other condition the only part is the condition
/// itself.
fn conjuncts(sarg: &Sarg) -> &[Sarg] {
    match sarg {
        Sarg::And(parts) => parts,
        one => std::slice::from_ref(one),
    }
}

/// Returns the paths that a condition tests.
fn paths_of(sarg: &Sarg) -> Vec<PathSteps> {
    match sarg {
        Sarg::All | Sarg::Never => Vec::new(),
        Sarg::And(parts) | Sarg::Or(parts) => parts.iter().flat_map(paths_of).collect(),
        Sarg::Test(steps, _) => vec![steps.clone()],
    }
}

/// Returns the paths that the condition compares for equality, and the paths with a range or prefix
/// test. Paths through arrays are omitted, because composite indexes do not contain them.
fn tested_paths(sarg: &Sarg) -> (Vec<String>, Vec<String>) {
    let (mut equal, mut ranges) = (Vec::new(), Vec::new());
    for part in conjuncts(sarg) {
        let Sarg::Test(steps, test) = part else { continue };
        if steps.contains(&PathStep::Elements) {
            continue;
        }
        match test {
            ValueTest::Equal(_) | ValueTest::In(_) => push_new(&mut equal, composite_path(steps)),
            ValueTest::Range { .. } | ValueTest::Prefix(_) => {
                push_new(&mut ranges, composite_path(steps));
            }
            ValueTest::Defined | ValueTest::Text => {}
        }
    }
    ranges.retain(|path| !equal.contains(path));
    (equal, ranges)
}

/// Returns a path in the form of composite indexes, which have no wildcard at the end.
fn composite_path(steps: &[PathStep]) -> String {
    let path = policy_path(steps);
    path.strip_suffix("/?").map(str::to_owned).unwrap_or(path)
}

/// Returns whether a composite index has the paths `equal` first, in any order, and then the paths
/// `rest` in this order, either all with these directions or all with the opposite ones.
fn serves(parts: &[CompositePath], equal: &[String], rest: &[CompositePath]) -> bool {
    let Some((first, behind)) = parts.split_at_checked(equal.len()) else { return false };
    let Some(behind) = behind.get(..rest.len()) else { return false };
    let same_paths = behind.iter().zip(rest).all(|(held, wanted)| held.0 == wanted.0);
    let turned = behind.iter().zip(rest).filter(|(held, wanted)| held.1 != wanted.1).count();
    first.iter().all(|(path, _)| equal.contains(path))
        && same_paths
        && (turned == 0 || turned == rest.len())
}

/// Returns a JSON array of objects.
fn document_list<T>(all: &[T], entry: impl Fn(&T) -> Document) -> Value {
    Value::Array(all.iter().map(|one| Value::Document(entry(one))).collect())
}

/// Returns the paths of a composite index with their directions, as `/path ASC`.
fn spec_list(parts: &[CompositePath]) -> Value {
    let text = |(path, descending): &CompositePath| {
        Value::String(format!("{path} {}", if *descending { "DESC" } else { "ASC" }))
    };
    Value::Array(parts.iter().map(text).collect())
}
