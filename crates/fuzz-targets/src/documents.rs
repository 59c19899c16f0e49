//! Fuzz targets of messages of the MongoDB API and the documents in them.

use document::{
    DocRef, compare, depth_within,
    key::{TypeOrder, encode},
    validate, validate_depth,
};

/// Parses a message. It is refused, or all its documents are valid and it survives a round trip.
pub(crate) fn wire(bytes: &[u8]) {
    let Some(read) = mongo::fuzzing::read_message(bytes) else { return };
    for document in read.sequences.iter().flat_map(|(_, documents)| documents).chain([&read.body]) {
        assert!(validate(document).is_ok(), "a document of a message is not valid");
    }
    let again =
        mongo::fuzzing::read_message(&read.whole).expect("an encoded message can be parsed");
    assert_eq!((again.body, again.sequences), (read.body, read.sequences));
}

/// Parses a document. It is refused, or all of it can be read, compared, encoded as a key and
/// rewritten.
pub fn bson(bytes: &[u8]) {
    let within = depth_within(bytes, 3);
    if validate(bytes).is_err() {
        return;
    }
    assert_eq!(within, validate_depth(bytes, 3).is_ok());
    let read = DocRef::Raw(bytes);
    let tree = read.to_tree();
    assert_eq!(read.iter().count(), tree.len(), "a field was not read");
    for (_, value) in read.iter() {
        assert!(compare(value, value).is_eq(), "{value:?} is not itself");
        for order in [TypeOrder::Bson, TypeOrder::Json] {
            let mut key = Vec::new();
            encode(value, order, true, &mut key);
            assert!(!key.is_empty());
        }
        let _ = document::shell(value).to_string();
    }
    let again = tree.to_buf();
    assert!(validate(again.bytes()).is_ok(), "written as something else");
    assert_eq!(again.as_ref().to_tree().to_buf().bytes(), again.bytes(), "written in two ways");
}
