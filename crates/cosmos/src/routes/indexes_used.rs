//! Which indexes serve a query by the policy, whether or not their paths are kept, in the two forms
//! that clients decode. What other policies could serve is not worked out: the lists of potential
//! indexes are empty.
//!
//! The first version is base64 of a JSON object, the second a JSON object with percent signs. Both
//! come in one header, and the client says which it reads.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{Document, Value, array, doc};
use engine::{IndexSpec, IndexUse, policy_path};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use select::sarg::PathStep;

use crate::{
    catalog::Container, container, headers::Headers, partition_key::KeyPath, representation,
};

/// The value of the header for a client that asks for it; `None` for all others. The second version
/// counts where both are asked for.
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
    // Items of one partition are found by its key, which the service does with the index of its path.
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

/// The index of a path of the partition key, where the policy has one.
fn partition_index(container: &Container, key: &KeyPath) -> Option<String> {
    let steps: Vec<PathStep> = key.parts().iter().cloned().map(PathStep::Property).collect();
    let state = container.collection.state();
    let policy = state.record.indexes.iter().find_map(IndexSpec::policy)?;
    policy.covers_path(&steps).then(|| policy_path(&steps))
}

/// A JSON array of objects.
fn document_list<T>(all: Vec<T>, entry: impl Fn(T) -> Document) -> Value {
    Value::Array(all.into_iter().map(|one| Value::Document(entry(one))).collect())
}

/// A JSON array of texts.
fn text_list(all: Vec<String>) -> Value {
    Value::Array(all.into_iter().map(Value::String).collect())
}

/// The form of the first version. "High" and the precise sets say that the index was used for all
/// of the condition that it could serve.
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

/// The form of the second version.
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
