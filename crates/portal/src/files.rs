//! Serves the files of the web pages that were embedded at build time. A link into the pages
//! returns the first page, whose script interprets the link.

use std::borrow::Cow;

use axum::{
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use rust_embed::Embed;

use crate::{error::Error, host::only_reads};

/// Whether this build contains the portal.
pub const BUILT: bool = matches!(env!("EBB_PORTAL_BUILT").as_bytes(), b"yes");

/// The folder that the build script fills: every file, and its compressed form if that is smaller.
/// Files are compressed at build time instead of per request.
#[derive(Embed)]
#[folder = "$OUT_DIR/pages"]
struct Embedded;

#[derive(Clone, Debug)]
struct File {
    /// Path without a leading slash.
    name: String,
    /// Hash of the contents, used as `ETag`.
    tag: String,
    plain: Bytes,
    /// Brotli-compressed contents, if they are smaller.
    brotli: Option<Bytes>,
}

/// Returns an embedded file by its path without copying its contents; `None` for an unknown path.
fn embedded_file(name: &str) -> Option<File> {
    let file = Embedded::get(name)?;
    let hash = file.metadata.sha256_hash();
    let tag = hash.iter().take(TAG_BYTES).map(|byte| format!("{byte:02x}")).collect();
    let packed = Embedded::get(&format!("{name}{PACKED}"));
    let bytes = |data| match data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    };
    Some(File {
        name: name.to_owned(),
        tag,
        plain: bytes(file.data),
        brotli: packed.map(|packed| bytes(packed.data)),
    })
}

/// Suffix of the names of compressed files, which are not served under these names.
const PACKED: &str = ".br";
/// Number of hash bytes in an `ETag`.
const TAG_BYTES: usize = 8;
/// The file that is returned for every path of a page.
const FIRST: &str = "index.html";
/// Folder of files whose names contain a hash of their contents, so that browsers may cache them
/// forever.
const HASHED: &str = "assets/";
/// Prefixes of links into the pages. Such links contain names of databases and containers, which
/// may look like file names.
const LINKS: [&str; 2] = ["nosql/", "mongo/"];

/// Handles a path without a route: returns a file, the first page for a link, or 404.
pub(crate) async fn serve_file(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !only_reads(&method) {
        return Error::not_found().into_response();
    }
    match find_file(embedded_file, uri.path()) {
        Some(file) => file_response(&file, &headers),
        None => Error::not_found().into_response(),
    }
}

/// Returns the file for a path. A path without an extension is a link into the pages. A path with
/// an extension must be a file, so that a page that was loaded before an update does not get HTML
/// in place of a script.
fn find_file(get: impl Fn(&str) -> Option<File>, path: &str) -> Option<File> {
    let path = path.strip_prefix('/')?;
    let named = |name: &str| get(name).filter(|_| !name.ends_with(PACKED));
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_link = LINKS.iter().any(|link| path.starts_with(link));
    let is_inner = path.starts_with('_') || path.starts_with(HASHED);
    match named(path) {
        Some(file) => Some(file),
        None if is_link || (!is_inner && !last.contains('.')) => named(FIRST),
        None => None,
    }
}

/// Returns a file, in compressed form if the browser accepts that. Returns 304 if the browser has
/// the file already. The two forms have different tags, because caches may store both.
fn file_response(file: &File, asked: &HeaderMap) -> Response {
    let packed = file.brotli.as_ref().filter(|_| takes_brotli(asked));
    let tag = match packed {
        Some(_) => format!("\"{}-br\"", file.tag),
        None => format!("\"{}\"", file.tag),
    };
    let is_same = has_tag(asked, &tag);
    let bytes = packed.unwrap_or(&file.plain).clone();
    let mut response = match is_same {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => bytes.into_response(),
    };
    let headers = response.headers_mut();
    if !is_same {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind_of(&file.name)));
        if packed.is_some() {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
        }
    }
    let cache = match file.name.starts_with(HASHED) {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Returns the comma-separated elements of all headers with this name.
fn header_words(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let texts = headers.get_all(name).into_iter().filter_map(|text| text.to_str().ok());
    texts.flat_map(|text| text.split(',')).map(str::trim)
}

/// Returns whether a browser accepts brotli; `br;q=0` means that it does not.
fn takes_brotli(headers: &HeaderMap) -> bool {
    header_words(headers, header::ACCEPT_ENCODING).any(|word| {
        let (coding, weight) = word.split_once(';').unwrap_or((word, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::trim);
        let refused = weight.is_some_and(|weight| weight.parse::<f32>().unwrap_or(0.0) <= 0.0);
        coding.trim().eq_ignore_ascii_case("br") && !refused
    })
}

/// Returns whether a browser already has the file with this tag.
fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    header_words(headers, header::IF_NONE_MATCH)
        .any(|word| word == "*" || word.strip_prefix("W/").unwrap_or(word) == tag)
}

/// Returns the content type for the file's extension.
fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" | "map" => "application/json",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: [&str; 4] = ["assets/a-1.js", "assets/a-1.js.br", "icon.svg", "index.html"];

    fn some(name: &str) -> Option<File> {
        let packed = name != "icon.svg";
        SOME.contains(&name).then(|| File {
            name: name.to_owned(),
            tag: "t".to_owned(),
            plain: Bytes::from_static(b"plain text"),
            brotli: packed.then(|| Bytes::from_static(b"packed")),
        })
    }

    #[test]
    fn links_are_answered_with_the_first_page() {
        for (path, want) in [
            ("/", Some("index.html")),
            ("/index.html", Some("index.html")),
            ("/features", Some("index.html")),
            ("/nosql/v1.2/c.d", Some("index.html")),
            ("/mongo/d/c.js/items", Some("index.html")),
            ("/nosql/d%2Fe/c", Some("index.html")),
            ("/assets/a-1.js", Some("assets/a-1.js")),
            ("/icon.svg", Some("icon.svg")),
            ("/assets/a-1.js.br", None),
            ("/assets/a-2.js", None),
            ("/assets/a", None),
            ("/assets", Some("index.html")),
            ("/icon.png", None),
            ("/_ebb/nothing", None),
            ("/_portal/nothing", None),
            ("/../Cargo.toml", None),
            ("", None),
        ] {
            let found = find_file(some, path).map(|file| file.name);
            assert_eq!(found.as_deref(), want, "{path}");
        }
    }

    fn asked(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn compressed_when_the_client_takes_it() {
        for (given, want) in [
            (&[][..], false),
            (&[("accept-encoding", "gzip, deflate, br, zstd")], true),
            (&[("accept-encoding", "gzip"), ("accept-encoding", "BR;q=0.5")], true),
            (&[("accept-encoding", "br;q=0")], false),
            (&[("accept-encoding", "br; q=0.000, gzip")], false),
            (&[("accept-encoding", "brx")], false),
        ] {
            let response = file_response(&some("assets/a-1.js").unwrap(), &asked(given));
            let header = |name| response.headers().get(name).map(|it| it.to_str().unwrap());
            assert_eq!(header(header::CONTENT_ENCODING), want.then_some("br"), "{given:?}");
            assert_eq!(header(header::ETAG), Some(if want { "\"t-br\"" } else { "\"t\"" }));
            assert_eq!(header(header::VARY), Some("accept-encoding"));
            assert_eq!(header(header::CACHE_CONTROL), Some("public, max-age=31536000, immutable"));
        }
    }

    #[test]
    fn what_a_client_has_is_not_sent_again() {
        for (given, want) in [
            (&[][..], 200),
            (&[("if-none-match", "\"t\"")], 304),
            (&[("if-none-match", "\"a\", W/\"t\"")], 304),
            (&[("if-none-match", "*")], 304),
            (&[("if-none-match", "\"t-br\"")], 200),
            (&[("if-none-match", "\"t\""), ("accept-encoding", "br")], 200),
            (&[("if-none-match", "\"t-br\""), ("accept-encoding", "br")], 304),
        ] {
            let response = file_response(&some("index.html").unwrap(), &asked(given));
            assert_eq!(response.status(), want, "{given:?}");
            assert_eq!(response.headers()[header::CACHE_CONTROL], "no-cache");
            let has_kind = response.headers().contains_key(header::CONTENT_TYPE);
            assert_eq!(has_kind, want == 200, "{given:?}");
        }
    }

    #[test]
    fn the_first_page_is_in_every_build() {
        let first = find_file(embedded_file, "/").unwrap();
        assert!(first.plain.starts_with(b"<!doctype html>"));
        let text = str::from_utf8(&first.plain).unwrap();
        assert!(BUILT || !text.contains("<script"));
    }
}
