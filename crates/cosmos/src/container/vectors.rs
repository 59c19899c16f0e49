//! Vector policies: embeddings and their indexes. This server has no vector search. Policies are
//! validated as in Azure Cosmos DB, so that mistakes in a container's definition are found before
//! it is used with Azure Cosmos DB.

use document::{Document, Number, Value};

use crate::failure::{Failure, Result};

const DATA_TYPES: [&str; 4] = ["float32", "float16", "int8", "uint8"];
const DISTANCES: [&str; 3] = ["cosine", "dotproduct", "euclidean"];
/// Index types, with the maximum number of dimensions.
const KINDS: [(&str, i64); 3] = [("flat", 505), ("quantizedFlat", 4096), ("diskANN", 4096)];
/// Maximum number of dimensions of a vector.
const MAX_DIMENSIONS: i64 = 4096;

/// Returns the entries of an array in a policy; empty if the policy or the array is missing. The
/// caller has validated its form.
pub(super) fn entries_of<'a>(body: &'a Document, policy: &str, list: &str) -> Vec<&'a Document> {
    let Some(Value::Document(policy)) = body.get(policy) else { return Vec::new() };
    let Some(Value::Array(entries)) = policy.get(list) else { return Vec::new() };
    let object = |entry: &'a Value| match entry {
        Value::Document(fields) => Some(fields),
        _ => None,
    };
    entries.iter().filter_map(object).collect()
}

fn embeddings_of(body: &Document) -> Vec<&Document> {
    entries_of(body, "vectorEmbeddingPolicy", "vectorEmbeddings")
}

fn indexes_of(body: &Document) -> Vec<&Document> {
    entries_of(body, "indexingPolicy", "vectorIndexes")
}

/// Returns a text property of an entry; empty if missing.
pub(super) fn text_of<'a>(entry: &'a Document, name: &str) -> &'a str {
    entry.get(name).and_then(|text| text.as_ref().as_str()).unwrap_or_default()
}

/// Returns an integer property of an entry.
fn number_of(entry: &Document, name: &str) -> Option<i64> {
    Number::of(entry.get(name)?.as_ref())?.to_i64_exact()
}

/// Returns whether a name is in the list, ignoring case.
fn is_known(name: &str, known: &[&str]) -> bool {
    known.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Validates vector policies by the rules of Azure Cosmos DB.
pub(super) fn check_vectors(body: &Document) -> Result<()> {
    let embeddings = embeddings_of(body);
    for (at, embedding) in embeddings.iter().enumerate() {
        check_embedding(embedding)?;
        let path = text_of(embedding, "path");
        if embeddings.iter().take(at).any(|before| text_of(before, "path") == path) {
            return Err(Failure::bad_request(format!(
                "The Vector Embedding Policy has the path '{path}' more than once."
            )));
        }
    }
    let indexes = indexes_of(body);
    for (at, index) in indexes.iter().enumerate() {
        let path = text_of(index, "path");
        let embedding = embeddings.iter().find(|embedding| text_of(embedding, "path") == path);
        let Some(embedding) = embedding else {
            return Err(Failure::bad_request(format!(
                "The Vector Indexing Policy's path::{path} not matching in Embedding's path."
            )));
        };
        if indexes.iter().take(at).any(|before| text_of(before, "path") == path) {
            return Err(Failure::bad_request(format!(
                "The Vector Indexing Policy has the path '{path}' more than once."
            )));
        }
        check_index(index, number_of(embedding, "dimensions").unwrap_or(0))?;
    }
    Ok(())
}

/// Validates the embedding of one path.
fn check_embedding(embedding: &Document) -> Result<()> {
    let (kind, distance) = (text_of(embedding, "dataType"), text_of(embedding, "distanceFunction"));
    if !is_known(kind, &DATA_TYPES) {
        return Err(Failure::bad_request(format!(
            "The Vector Embedding Policy has an invalid DataType::{kind}. It is one of {}.",
            DATA_TYPES.join(", ")
        )));
    }
    if !is_known(distance, &DISTANCES) {
        return Err(Failure::bad_request(format!(
            "The Vector Embedding Policy has an invalid DistanceFunction::{distance}. It is one of \
             {}.",
            DISTANCES.join(", ")
        )));
    }
    match number_of(embedding, "dimensions") {
        Some(1..=MAX_DIMENSIONS) => Ok(()),
        _ => Err(Failure::bad_request(format!(
            "The Vector Embedding Policy has invalid Dimensions. They are a whole number from 1 to \
             {MAX_DIMENSIONS}."
        ))),
    }
}

/// Validates an index over vectors of `dimensions` dimensions. The caller has refused unknown index
/// types.
fn check_index(index: &Document, dimensions: i64) -> Result<()> {
    let kind = text_of(index, "type");
    let most = KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(kind));
    if let Some((kind, most)) = most
        && *most < dimensions
    {
        return Err(Failure::bad_request(format!(
            "The Vector Indexing Policy's index type::{kind} takes at most {most} dimensions; the \
             embedding has {dimensions}."
        )));
    }
    for (name, range) in [("quantizationByteSize", 1..=512), ("indexingSearchListSize", 10..=500)] {
        let given = index.get(name).filter(|given| !matches!(given, Value::Null));
        if given.is_some() && !number_of(index, name).is_some_and(|number| range.contains(&number))
        {
            return Err(Failure::bad_request(format!(
                "The Vector Indexing Policy has an invalid {name}. It is a whole number from {} to \
                 {}.",
                range.start(),
                range.end()
            )));
        }
    }
    Ok(())
}

/// Returns whether two definitions have equal vector policies.
pub(super) fn same_vectors(new: &Document, held: &Document) -> bool {
    embeddings_of(new) == embeddings_of(held) && indexes_of(new) == indexes_of(held)
}

/// Refuses a new definition that changes or removes the vector policy of an existing path. Paths
/// may be added.
pub(super) fn check_replacement(new: &Document, held: &Document) -> Result<()> {
    let keeps = |new: &[&Document], held: &[&Document], names: &[&str]| {
        held.iter().all(|held| {
            let found = new.iter().find(|new| new.get("path") == held.get("path"));
            found.is_some_and(|found| names.iter().all(|name| found.get(name) == held.get(name)))
        })
    };
    if !keeps(&indexes_of(new), &indexes_of(held), &["type"]) {
        return Err(Failure::bad_request(
            "Paths in existing vector indexing policy cannot be modified in Collection Replace. \
             They can only be added.",
        ));
    }
    let names = ["dataType", "distanceFunction", "dimensions"];
    if !keeps(&embeddings_of(new), &embeddings_of(held), &names) {
        return Err(Failure::bad_request(
            "Paths in existing embedding policy cannot be modified in Collection Replace. They can \
             only be added.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use document::json;

    use super::*;

    fn body(embeddings: &str, indexes: &str) -> Document {
        let text = format!(
            r#"{{"vectorEmbeddingPolicy":{{"vectorEmbeddings":[{embeddings}]}},
                "indexingPolicy":{{"vectorIndexes":[{indexes}]}}}}"#
        );
        json::parse_document(text.as_bytes(), 9).unwrap()
    }

    fn embedding(kind: &str, distance: &str, dimensions: &str) -> String {
        format!(
            r#"{{"path":"/v","dataType":"{kind}","distanceFunction":"{distance}","dimensions":{dimensions}}}"#
        )
    }

    #[test]
    fn what_the_service_refuses_is_refused() {
        let good = embedding("float32", "cosine", "505");
        let large = embedding("Int8", "dotProduct", "506");
        for (embeddings, indexes, want) in [
            (good.clone(), r#"{"path":"/v","type":"flat"}"#, ""),
            (large.clone(), r#"{"path":"/v","type":"diskANN","quantizationByteSize":512}"#, ""),
            (large.clone(), r#"{"path":"/v","type":"diskANN","indexingSearchListSize":10}"#, ""),
            (String::new(), "", ""),
            (String::new(), r#"{"path":"/v","type":"flat"}"#, "path::/v not matching in"),
            (good.clone(), r#"{"path":"/w","type":"flat"}"#, "path::/w not matching in"),
            (large.clone(), r#"{"path":"/v","type":"flat"}"#, "at most 505"),
            (
                good.clone(),
                r#"{"path":"/v","type":"flat"},{"path":"/v","type":"diskANN"}"#,
                "more than once",
            ),
            (
                good.clone(),
                r#"{"path":"/v","type":"diskANN","quantizationByteSize":0}"#,
                "quantizationByteSize",
            ),
            (
                good.clone(),
                r#"{"path":"/v","type":"diskANN","indexingSearchListSize":5}"#,
                "indexingSearchListSize",
            ),
            (format!("{good},{good}"), "", "more than once"),
            (embedding("float64", "cosine", "3"), "", "invalid DataType"),
            (embedding("float32", "handMeasured", "3"), "", "invalid DistanceFunction"),
            (embedding("float32", "cosine", "0"), "", "invalid Dimensions"),
            (embedding("float32", "cosine", "-1"), "", "invalid Dimensions"),
            (embedding("float32", "cosine", "8.5"), "", "invalid Dimensions"),
            (embedding("float32", "cosine", "null"), "", "invalid Dimensions"),
            (embedding("float32", "cosine", "4097"), "", "invalid Dimensions"),
        ] {
            let checked = check_vectors(&body(&embeddings, indexes));
            let text = checked.err().map_or_else(String::new, |failure| failure.text.into_owned());
            assert!(text.contains(want) && text.is_empty() == want.is_empty(), "{want}: {text}");
        }
    }

    #[test]
    fn paths_are_added_and_never_changed() {
        let (one, flat) = (embedding("float32", "cosine", "3"), r#"{"path":"/v","type":"flat"}"#);
        let other = one.replace("/v", "/w");
        let held = body(&one, flat);
        for (embeddings, indexes, want) in [
            (one.clone(), flat.to_owned(), ""),
            (format!("{other},{one}"), format!("{flat},{}", flat.replace("/v", "/w")), ""),
            (one.clone(), String::new(), "vector indexing policy"),
            (one.clone(), flat.replace("flat", "diskANN"), "vector indexing policy"),
            (String::new(), flat.to_owned(), "embedding policy"),
            (one.replace('3', "4"), flat.to_owned(), "embedding policy"),
        ] {
            let checked = check_replacement(&body(&embeddings, &indexes), &held);
            let text = checked.err().map_or_else(String::new, |failure| failure.text.into_owned());
            assert!(text.contains(want) && text.is_empty() == want.is_empty(), "{want}: {text}");
        }
    }
}
