//! File access restricted to a directory: no parent paths, and no links that lead outside.

use std::path::{Component, Path, PathBuf};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use percent_encoding::percent_decode_str;
use tower_http::services::ServeFile;

use super::page::plain_text;

/// Maximum size of a served file, since it is held in memory completely.
const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;
/// Names of the files that are served for a folder: the first one that exists.
const INDEXES: [&str; 2] = ["index.html", "explorer.html"];

/// Returns the file for a percent-encoded path below the directory, if any. `root` is canonical.
pub(super) fn find_file(root: &Path, below: &str) -> Option<PathBuf> {
    let below = percent_decode_str(below).decode_utf8().ok()?;
    if below.contains(['\\', '\0']) {
        return None;
    }
    // Checked after decoding: `..` may arrive as `%2e%2e`.
    let below = Path::new(below.as_ref());
    if !below.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let found = resolve_within(root, &root.join(below))?;
    if found.is_file() {
        return Some(found);
    }
    let mut indexes = INDEXES.iter().filter_map(|name| resolve_within(root, &found.join(name)));
    indexes.find(|file| file.is_file())
}

/// Resolves links in a path; `None` if the result is outside the directory.
fn resolve_within(root: &Path, path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|found| found.starts_with(root))
}

/// Reads a file for a browser, completely or a range; 304 if the browser has it already.
pub(super) async fn read_file(file: &Path, is_head: bool, asked: &HeaderMap) -> Response<Bytes> {
    let mut request = Request::new(());
    if is_head {
        *request.method_mut() = Method::HEAD;
    }
    for name in [header::RANGE, header::IF_MODIFIED_SINCE, header::IF_UNMODIFIED_SINCE] {
        if let Some(value) = asked.get(&name) {
            request.headers_mut().insert(name, value.clone());
        }
    }
    let failed = || plain_text(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read");
    let Ok(response) = ServeFile::new(file).try_call(request).await else { return failed() };
    let (parts, body) = response.into_parts();
    match Limited::new(body, MAX_FILE_BYTES).collect().await {
        Ok(body) => Response::from_parts(parts, body.to_bytes()),
        Err(_) => failed(),
    }
}
