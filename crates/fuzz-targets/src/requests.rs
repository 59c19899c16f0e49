//! Fuzz targets of requests of the NoSQL API: bodies, heads (verb, path and headers), and the texts
//! in heads that have a syntax of their own.

use document::{
    DocRef,
    json::{parse, to_string},
    validate,
};

/// Parses an item, or a partition key definition, as JSON.
pub(crate) fn items(bytes: &[u8]) {
    cosmos::fuzzing::read_definition(bytes);
    let Some(item) = cosmos::fuzzing::read_item(bytes) else { return };
    assert!(validate(&item).is_ok(), "a parsed item is a valid document");
    let text = to_string(document::ValueRef::Document(DocRef::Raw(&item)));
    let again = cosmos::fuzzing::read_item(text.as_bytes())
        .expect("the JSON text of an item can be parsed");
    assert_eq!(again, item, "{text}");
}

/// Parses a value in the SDKs' binary JSON. It is refused, or can be written as JSON.
pub(crate) fn binary_json(bytes: &[u8]) {
    let Some(value) = cosmos::fuzzing::read_binary(bytes) else { return };
    let text = to_string(value.as_ref());
    assert!(parse(text.as_bytes(), 200).is_ok(), "{text}");
}

/// Parses and applies a patch. It is refused, or its result is a document.
pub(crate) fn patches(bytes: &[u8]) {
    const ITEM: &[u8] = br#"{"id":"1","pk":"a","n":1,"s":"text","a":[1,2,[3]],"o":{"p":{"q":[]}}}"#;
    if let Some(made) = cosmos::fuzzing::patch_item(bytes, ITEM) {
        assert!(validate(&made).is_ok(), "the result of a patch is a valid document");
    }
}

/// Parses a batch. It is refused, or every item in it is a valid document.
pub(crate) fn batches(bytes: &[u8]) {
    for item in cosmos::fuzzing::read_batch(bytes) {
        assert!(validate(&item).is_ok(), "an item of a batch is a valid document");
    }
}

/// Parses a HybridRow stream. It is refused, or its rows survive a round trip. An input is a stream
/// or the single row of a stream, since generated streams never have a correct checksum.
pub(crate) fn hybrid_rows(bytes: &[u8]) {
    let mut row = vec![0x81, 0xf0, 0xd8, 0xff, 0x7f, 1, 10, 0, 0, 0, 0x81, 0xf1, 0xd8, 0xff, 0x7f];
    row.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    row.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
    row.extend_from_slice(bytes);
    for stream in [bytes, &row] {
        if let Ok(operations) = hybrid_row::read_operations(stream) {
            assert_eq!(hybrid_row::count_records(stream), Ok(operations.len()));
            let again = hybrid_row::write_operations(&operations);
            assert_eq!(hybrid_row::read_operations(&again).as_ref(), Ok(&operations));
            cosmos::fuzzing::read_batch(stream);
        }
        if let Ok(results) = hybrid_row::read_results(stream) {
            let mut writer = hybrid_row::ResultWriter::with_capacity(stream.len());
            results.iter().for_each(|result| writer.push(result));
            // NaN charges are not equal to themselves, so texts are compared.
            let again = writer.finish();
            let read = hybrid_row::read_results(&again);
            assert_eq!(format!("{read:?}"), format!("{:?}", Ok::<_, hybrid_row::Invalid>(results)));
        }
    }
}

/// Parses a frame of direct mode as a request, a context and an answer. Tokens that are accepted
/// survive a round trip.
pub(crate) fn frames(bytes: &[u8]) {
    cosmos::fuzzing::read_request_frame(bytes);
    let tokens = bytes.get(rntbd::HEAD_BYTES..).unwrap_or_default();
    let _ = rntbd::ClientContext::read(tokens).is_ok();
    let Ok(found) = rntbd::Tokens::new(tokens).collect::<Result<Vec<_>, _>>() else { return };
    let mut out = Vec::new();
    let mut frame = rntbd::FrameWriter::answer(&mut out, 200, [0; 16]);
    for token in &found {
        assert!(frame.push(token.id, token.kind, token.value), "a token that was read is too long");
    }
    frame.finish(None);
    assert_eq!(out.get(rntbd::HEAD_BYTES..), Some(tokens));
}

/// Parses a head given as lines: verb, path, then headers, each with a colon.
pub(crate) fn heads(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let (Some(verb), Some(path)) = (lines.next(), lines.next()) else { return };
    let Ok(path) = std::str::from_utf8(path) else { return };
    let headers = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = line.split_at_checked(colon)?;
        Some((name, value.get(1..).unwrap_or_default()))
    });
    cosmos::fuzzing::read_head(verb, path, headers);
}

/// Parses a text as a resource id, an ETag, a session token, a partition key, a range of keys, a
/// continuation token and the path of a permission. Each parser refuses it, or the value survives a
/// round trip.
pub(crate) fn tokens(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        cosmos::fuzzing::read_tokens(text);
    }
}
