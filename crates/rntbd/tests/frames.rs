//! Tests with captured frames and with frames that are cut or changed. The files in `captured` are
//! frames that Microsoft.Azure.Cosmos for .NET sent or accepted in direct mode; their signatures and
//! dates are replaced.
#![allow(clippy::unwrap_used, reason = "a failed assumption fails the test")]

use std::{fs, path::PathBuf};

use rntbd::{
    AnswerHead, AnswerToken, ClientContext, FrameWriter, HEAD_BYTES, Kind, OperationType,
    RequestHead, RequestToken, RequestTokens, ResourceType, ServerContext, Token, Tokens,
    is_context,
};

const MOST: usize = 1 << 20;

fn captured(ending: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captured");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| {
            (path.file_stem().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
        })
        .collect();
    found.sort();
    assert!(50 <= found.len(), "{} with .{ending}", found.len());
    found
}

fn head(frame: &[u8]) -> &[u8; HEAD_BYTES] {
    frame.first_chunk().unwrap()
}

/// Splits a frame into its tokens and the bytes after them.
fn split(frame: &[u8], tokens_len: usize) -> (Vec<Token<'_>>, &[u8]) {
    let (tokens, rest) = frame[HEAD_BYTES..].split_at(tokens_len);
    (Tokens::new(tokens).collect::<Result<_, _>>().unwrap(), rest)
}

fn write(mut writer: FrameWriter<'_>, tokens: &[Token<'_>], rest: &[u8]) {
    for token in tokens {
        assert!(writer.push(token.id, token.kind, token.value));
    }
    let body = rest.len().checked_sub(4);
    writer.finish(body);
}

#[test]
fn captured_frames_are_written_as_they_were() {
    for (name, frame) in captured("request") {
        let read = RequestHead::read(head(&frame), MOST).unwrap();
        let (tokens, rest) = split(&frame, read.tokens_len);
        let mut out = Vec::new();
        let writer = FrameWriter::request(&mut out, read.resource, read.operation, read.activity);
        write(writer, &tokens, rest);
        out.extend_from_slice(rest.get(4..).unwrap_or_default());
        assert_eq!(out, frame, "{name}");
    }
    for (name, frame) in captured("response") {
        let read = AnswerHead::read(head(&frame), MOST).unwrap();
        let (tokens, rest) = split(&frame, read.tokens_len);
        let mut out = Vec::new();
        write(FrameWriter::answer(&mut out, read.status, read.activity), &tokens, rest);
        out.extend_from_slice(rest.get(4..).unwrap_or_default());
        assert_eq!(out, frame, "{name}");
        for token in tokens.iter().filter(|_| name != "context") {
            if let Some(known) = AnswerToken::of_id(token.id) {
                assert_eq!(known.kind(), token.kind, "{name} {known:?}");
            }
        }
    }
}

#[test]
fn captured_requests_have_known_types_and_the_required_tokens() {
    for (name, frame) in captured("request") {
        let read = RequestHead::read(head(&frame), MOST).unwrap();
        let tokens = &frame[HEAD_BYTES..HEAD_BYTES + read.tokens_len];
        if is_context(&read) {
            let context = ClientContext::read(tokens).unwrap();
            assert_eq!(context.client_version, "2020-07-15");
            assert!(context.user_agent.starts_with("cosmos-netstandard-sdk/3.64.0"));
            continue;
        }
        let resource = ResourceType::of_code(read.resource).unwrap();
        let operation = OperationType::of_code(read.operation).unwrap();
        assert_eq!((resource.code(), operation.code()), (read.resource, read.operation));
        let found: Vec<_> = RequestTokens::new(tokens).collect::<Result<_, _>>().unwrap();
        let has = |wanted| found.iter().any(|(token, _)| *token == wanted);
        for wanted in [
            RequestToken::PayloadPresent,
            RequestToken::ReplicaPath,
            RequestToken::TransportRequestId,
            RequestToken::AuthorizationToken,
        ] {
            assert!(has(wanted), "{name} {wanted:?}");
        }
    }
}

#[test]
fn a_frame_cut_at_any_byte_is_refused_or_shorter() {
    for (name, frame) in captured("request") {
        let read = RequestHead::read(head(&frame), MOST).unwrap();
        let tokens = &frame[HEAD_BYTES..HEAD_BYTES + read.tokens_len];
        let all = Tokens::new(tokens).count();
        for len in 0..tokens.len() {
            let found: Vec<_> = Tokens::new(&tokens[..len]).collect();
            let good = found.iter().filter(|token| token.is_ok()).count();
            assert!(good < all, "{name} {len}");
        }
    }
}

#[test]
fn lengths_are_checked_before_anything_is_read() {
    for (len, most, good) in [
        (0, MOST, false),
        (23, MOST, false),
        (24, 0, true),
        (25, 0, false),
        (24 + 100, 100, true),
        (24 + 101, 100, false),
        (1 << 31, MOST, false),
        (u32::MAX, MOST, false),
    ] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&u32::to_le_bytes(len));
        assert_eq!(RequestHead::read(&bytes, most).is_ok(), good, "{len}");
        assert_eq!(AnswerHead::read(&bytes, most).is_ok(), good, "{len}");
    }
}

fn tokens_of(tokens: &[(u16, Kind, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = FrameWriter::request(&mut out, 3, 3, [0; 16]);
    for (id, kind, value) in tokens {
        assert!(writer.push(*id, *kind, value));
    }
    writer.finish(None);
    out.split_off(HEAD_BYTES)
}

#[test]
fn unknown_tokens_are_skipped_and_known_ones_have_one_kind() {
    let unknown: [(u16, Kind, &[u8]); 15] = [
        (0x7ff0, Kind::Byte, &[1]),
        (0x7ff1, Kind::UShort, &[1; 2]),
        (0x7ff2, Kind::ULong, &[1; 4]),
        (0x7ff3, Kind::Long, &[1; 4]),
        (0x7ff4, Kind::ULongLong, &[1; 8]),
        (0x7ff5, Kind::LongLong, &[1; 8]),
        (0x7ff6, Kind::Guid, &[1; 16]),
        (0x7ff7, Kind::SmallString, b"x"),
        (0x7ff8, Kind::String, b"\xff"),
        (0x7ff9, Kind::ULongString, b""),
        (0x7ffa, Kind::SmallBytes, b"x"),
        (0x7ffb, Kind::Bytes, b"x"),
        (0x7ffc, Kind::ULongBytes, b"x"),
        (0x7ffd, Kind::Float, &[1; 4]),
        (0x7ffe, Kind::Double, &[1; 8]),
    ];
    let mut all = tokens_of(&unknown);
    all.extend(tokens_of(&[(0x17, Kind::String, b"id")]));
    let found: Vec<_> = RequestTokens::new(&all).collect::<Result<_, _>>().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1.text(), Ok("id"));
    let refused = |tokens: &[(u16, Kind, &[u8])]| {
        let bytes = tokens_of(tokens);
        let found: Result<Vec<_>, _> = RequestTokens::new(&bytes).collect();
        found.unwrap_err().to_string()
    };
    let id = (0x17, Kind::String, b"id".as_slice());
    assert_eq!(refused(&[id, id]), "a token occurs twice");
    let other = "a token has the kind of another token";
    assert_eq!(refused(&[(0x17, Kind::SmallString, b"id")]), other);
    assert_eq!(refused(&[(0x02, Kind::UShort, &[1, 0])]), other);
    let mut bytes = tokens_of(&[id]);
    bytes[2] = 0xff;
    let found: Result<Vec<_>, _> = RequestTokens::new(&bytes).collect();
    assert_eq!(found.unwrap_err().to_string(), "a token has an unknown kind");
}

#[test]
fn values_too_long_for_their_kind_are_not_written() {
    let mut out = Vec::new();
    let mut writer = FrameWriter::answer(&mut out, 200, [7; 16]);
    assert!(!writer.push_text(AnswerToken::SchemaVersion, &[b'x'; 256]));
    assert!(writer.push_text(AnswerToken::SchemaVersion, &[b'x'; 255]));
    assert!(!writer.push_text(AnswerToken::ContinuationToken, &[b'x'; 1 << 16]));
    writer.push_number(AnswerToken::ItemCount, u64::MAX);
    writer.push_number(AnswerToken::Lsn, u64::MAX);
    writer.push_double(AnswerToken::RequestCharge, 2.5);
    writer.finish(Some(3));
    let read = AnswerHead::read(head(&out), MOST).unwrap();
    let (tokens, rest) = split(&out, read.tokens_len);
    assert_eq!(rest, [3, 0, 0, 0]);
    assert_eq!((tokens.len(), read.status, read.activity), (4, 200, [7; 16]));
    assert_eq!(tokens[1].ulong(), Ok(u32::MAX));
    assert_eq!(tokens[2].value, i64::MAX.to_le_bytes());
    assert_eq!(tokens[3].value, 2.5_f64.to_le_bytes());
}

#[test]
fn contexts() {
    let version = (0, Kind::ULong, [1, 0, 0, 0].as_slice());
    let client = (1, Kind::SmallString, b"2020-07-15".as_slice());
    let agent = (2, Kind::SmallString, b"test".as_slice());
    let more = (3, Kind::Byte, [0].as_slice());
    for (tokens, good) in [
        (vec![version, client, agent, more], true),
        (vec![client, agent], false),
        (vec![version, agent], false),
        (vec![version, client], false),
        (vec![version, client, agent, agent], false),
        (vec![(0, Kind::ULong, [2, 0, 0, 0].as_slice()), client, agent], false),
        (vec![(0, Kind::Long, [1, 0, 0, 0].as_slice()), client, agent], false),
    ] {
        let bytes = tokens_of(&tokens);
        assert_eq!(ClientContext::read(&bytes).is_ok(), good, "{tokens:?}");
    }
    let server = ServerContext { agent: "s", version: "v", idle_s: 60, unauthenticated_s: 30 };
    let mut out = Vec::new();
    server.write(&mut out, [1; 16], "2020-07-15");
    let read = AnswerHead::read(head(&out), MOST).unwrap();
    let (tokens, rest) = split(&out, read.tokens_len);
    assert_eq!((read.status, tokens.len(), rest.len()), (200, 6, 0));
    let mut out = Vec::new();
    server.write_refusal(&mut out, [1; 16], 400, b"{}");
    let read = AnswerHead::read(head(&out), MOST).unwrap();
    let (tokens, rest) = split(&out, read.tokens_len);
    assert_eq!((read.status, tokens.len(), rest), (400, 2, b"\x02\0\0\0{}".as_slice()));
}
