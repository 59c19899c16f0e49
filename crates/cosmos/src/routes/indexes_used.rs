//! The header that lists the indexes which serve a query by the policy, whether or not their paths
//! are indexed already. Indexes that another policy could provide are not determined: the lists of
//! potential indexes are empty.
//!
//! Version 1 is a JSON object in base64, version 2 a percent-encoded JSON object. Both use the same
//! header; the client chooses the version.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{Document, Value, array, doc};
use engine::{IndexSpec, IndexUse, policy_path};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use select::sarg::PathStep;

use crate::{
    catalog::Container, container, headers::Headers, partition_key::KeyPath, representation,
};

/// Returns the header value if the client requests it. Version 2 takes precedence.
pub(super) fn utilization_header(
    headers: &Headers,
    container: &Container,
    used: &[IndexUse],
    partition: &[KeyPath],
) -> Option<String> {
    if !headers.index_metrics() && !headers.index_metrics_v2() {
        return None;
    }
    let (mut single, mut composite) = (Vec::new(), Vec::new());
    // The items of one partition are found by its key; the service uses the index on its path.
    single.extend(partition.iter().filter_map(|key| partition_index(container, key)));
    for used in used {
        match used {
            IndexUse::Path(steps) => single.push(policy_path(steps)),
            IndexUse::Order(name) => {
                composite.extend(container::composite_paths(container.options(), name))
            }
        }
    }
    Some(match headers.index_metrics_v2() {
        true => utf8_percent_encode(&version_2(single, composite), NON_ALPHANUMERIC).to_string(),
        false => STANDARD.encode(version_1(single, composite)),
    })
}

/// Returns the index on a partition key path if the policy has one.
fn partition_index(container: &Container, key: &KeyPath) -> Option<String> {
    let steps: Vec<PathStep> = key.parts().iter().cloned().map(PathStep::Property).collect();
    let state = container.collection.state();
    let policy = state.record.indexes.iter().find_map(IndexSpec::policy)?;
    policy.covers_path(&steps).then(|| policy_path(&steps))
}

/// Returns a JSON array of objects.
fn document_list<T>(all: Vec<T>, entry: impl Fn(T) -> Document) -> Value {
    Value::Array(all.into_iter().map(|one| Value::Document(entry(one))).collect())
}

/// Returns a JSON array of texts.
fn text_list(all: Vec<String>) -> Value {
    Value::Array(all.into_iter().map(Value::String).collect())
}

/// Returns version 1 of the header. "High" and the precise sets say that the index was used for all
/// of the condition that it can serve.
fn version_1(single: Vec<String>, composite: Vec<Vec<String>>) -> Vec<u8> {
    representation::resource_text(&doc! {
        "UtilizedSingleIndexes": document_list(single, |spec| doc! {
            "FilterExpression": "",
            "IndexSpec": spec,
            "FilterPreciseSet": true,
            "IndexPreciseSet": true,
            "IndexImpactScore": "High",
        }),
        "PotentialSingleIndexes": array![],
        "UtilizedCompositeIndexes": document_list(composite, |specs| doc! {
            "IndexSpecs": text_list(specs),
            "IndexPreciseSet": true,
            "IndexImpactScore": "High",
        }),
        "PotentialCompositeIndexes": array![],
    })
}

/// Returns version 2 of the header.
fn version_2(single: Vec<String>, composite: Vec<Vec<String>>) -> String {
    let text = representation::resource_text(&doc! {
        "UtilizedIndexes": doc! {
            "SingleIndexes": document_list(single, |spec| doc! { "IndexSpec": spec }),
            "CompositeIndexes": document_list(composite, |specs| doc! { "IndexSpecs": text_list(specs) }),
        },
        "PotentialIndexes": doc! { "SingleIndexes": array![], "CompositeIndexes": array![] },
    });
    String::from_utf8(text).unwrap_or_default()
}
