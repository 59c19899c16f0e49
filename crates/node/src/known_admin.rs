//! Authorized admin requests in a cluster of several shards: routes each to the shard concerned, or
//! combines the responses of all. They arrive at the owner of the first shard.

use admin::routes::error::Error;
use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, Method, StatusCode, Uri, header::CONTENT_LENGTH},
    middleware::Next,
    response::{IntoResponse, Response},
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tower_service::Service;

use super::{
    admin_routes::pass_on,
    link::Purpose,
    route::{Destination, NO_CLIENT},
    routes::Routes,
};

/// Maximum size of a request body, in bytes.
const BODY_MAX: usize = 1 << 20;
/// Maximum size of a response to be combined, in bytes.
const ANSWER_MAX: usize = 8 << 20;

/// The shards to which an admin request is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RequestScope {
    First,
    /// The home shard of this database of this API.
    Home(&'static str, String),
    /// The home shards of this database in both APIs; the API that has the collection answers.
    Either(String),
    /// All shards; each receives the same request.
    Each,
    /// All shards: the first shard moves its clock, and all other clocks are set to the result.
    Clock,
    /// All shards; the numbers in their responses are added up.
    Sum,
    /// All shards; the arrays of this name in their responses are concatenated.
    List(&'static str),
}

impl RequestScope {
    fn of(method: &Method, uri: &Uri) -> Self {
        let path = uri.path();
        if let Some(rest) = path.strip_prefix("/_ebb/databases/") {
            let name = rest.split('/').next().unwrap_or_default();
            let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
            let mut arguments = uri.query().unwrap_or_default().split('&');
            return match arguments.find_map(|argument| argument.strip_prefix("door=")) {
                Some("mongo") => Self::Home("mongo", name),
                Some("nosql") => Self::Home("nosql", name),
                // The handler of any shard reports the invalid argument.
                Some(_) => Self::First,
                None => Self::Either(name),
            };
        }
        match (path, method) {
            ("/_ebb/clock", &Method::POST) => Self::Clock,
            ("/_ebb/clock/accept" | "/_ebb/features", &Method::POST | &Method::PUT) => Self::Each,
            ("/_ebb/expiry/series", _) => Self::Sum,
            ("/_ebb/databases", _) => Self::List("databases"),
            ("/_ebb/collections", _) => Self::List("collections"),
            _ => Self::First,
        }
    }
}

/// Executes a request of the admin API: locally by `here`, or on the node that owns the shard it
/// concerns, or on all nodes.
pub(super) async fn answer(routes: &Routes, request: Request, here: Next) -> Response {
    let scope = RequestScope::of(request.method(), request.uri());
    if scope == RequestScope::First || routes.all().count() == 1 {
        return here.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, BODY_MAX).await else {
        return Error::bad_request("the body is too large").into_response();
    };
    let buffered =
        BufferedRequest { method: parts.method, uri: parts.uri, headers: parts.headers, body };
    match scope {
        RequestScope::First => buffered.of_shard(routes, 0).await,
        RequestScope::Home("nosql", name) => {
            buffered.of_shard(routes, routes.nosql_home(&name)).await
        }
        RequestScope::Home(_, name) => buffered.of_shard(routes, routes.home(&name)).await,
        RequestScope::Either(name) => buffered.of_either(routes, &name).await,
        RequestScope::Each => buffered.of_each(routes).await,
        RequestScope::Clock => buffered.of_clocks(routes).await,
        RequestScope::Sum => buffered.sum(routes).await,
        RequestScope::List(name) => buffered.list(routes, name).await,
    }
}

/// An admin request, held so that it can be sent several times.
#[derive(Clone, Debug)]
struct BufferedRequest {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl BufferedRequest {
    fn request(&self) -> Request {
        let mut request = Request::new(Body::from(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().remove(CONTENT_LENGTH);
        request
    }

    /// Returns the request with the query argument `door`, which selects an API, added.
    fn with_door(&self, door: &str) -> Self {
        let sign = if self.uri.query().is_some() { '&' } else { '?' };
        let uri = format!("{}{sign}door={door}", self.uri).parse();
        Self { uri: uri.unwrap_or_else(|_| self.uri.clone()), ..self.clone() }
    }

    async fn of_shard(&self, routes: &Routes, shard: u32) -> Response {
        let Some(route) = routes.shard(shard) else { return unreached(shard) };
        match route.find(Purpose::KnownAdmin, NO_CLIENT, false).await {
            Some(Destination::Here(term)) => match term.known_routes().call(self.request()).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Some(Destination::There(passage)) => pass_on(passage, self.request()).await,
            None => unreached(shard),
        }
    }

    /// Sends the request to the home shards of the collection's database in both APIs. Returns the
    /// response of the API that has the collection, and an error if both have it.
    async fn of_either(&self, routes: &Routes, name: &str) -> Response {
        let of_mongo = self.with_door("mongo").of_shard(routes, routes.home(name)).await;
        let of_nosql = self.with_door("nosql").of_shard(routes, routes.nosql_home(name)).await;
        match (of_mongo.status(), of_nosql.status()) {
            (StatusCode::NOT_FOUND, _) => of_nosql,
            (_, StatusCode::NOT_FOUND) => of_mongo,
            _ => Error::in_both_apis().into_response(),
        }
    }

    /// Sends the request to all shards; returns the first failure, else the first shard's response.
    async fn of_each(&self, routes: &Routes) -> Response {
        let mut answer = None;
        for route in routes.all() {
            let of_shard = self.of_shard(routes, route.cluster_state.number).await;
            if !of_shard.status().is_success() {
                return of_shard;
            }
            answer.get_or_insert(of_shard);
        }
        answer.unwrap_or_else(|| unreached(0))
    }

    /// Moves the clocks of all shards. The first shard serializes concurrent moves, so that no move
    /// is lost.
    async fn of_clocks(&self, routes: &Routes) -> Response {
        let moved = self.of_shard(routes, 0).await;
        if !moved.status().is_success() {
            return moved;
        }
        let Some(answer) = read_json(moved).await else { return unreached(0) };
        let body = Bytes::from(json!({ "set": answer["now"] }).to_string());
        let set = Self { body, ..self.clone() };
        for route in routes.all().skip(1) {
            let shard = route.cluster_state.number;
            let status = set.of_shard(routes, shard).await.status();
            // 409: a concurrent move has already advanced this shard's clock further.
            if !status.is_success() && status != StatusCode::CONFLICT {
                let why = format!("the clock of shard {shard} was not moved: move it again");
                return Error::unavailable(why).into_response();
            }
        }
        axum::Json(answer).into_response()
    }

    /// Concatenates the lists in all shards' responses, sorted as a standalone server sorts them.
    async fn list(&self, routes: &Routes, name: &str) -> Response {
        let mut entries = Vec::new();
        for route in routes.all() {
            let shard = route.cluster_state.number;
            let answer = self.of_shard(routes, shard).await;
            if !answer.status().is_success() {
                return answer;
            }
            let Some(answer) = read_json(answer).await else { return unreached(shard) };
            entries.extend(answer[name].as_array().into_iter().flatten().cloned());
        }
        entries.sort_by_key(|entry| {
            ["api", "database", "collection"]
                .map(|name| entry[name].as_str().unwrap_or_default().to_owned())
        });
        axum::Json(json!({ name: entries })).into_response()
    }

    /// Adds up the responses of all shards.
    async fn sum(&self, routes: &Routes) -> Response {
        let mut sum: Option<Value> = None;
        for route in routes.all() {
            let shard = route.cluster_state.number;
            let answer = self.of_shard(routes, shard).await;
            if !answer.status().is_success() {
                return answer;
            }
            let Some(answer) = read_json(answer).await else { return unreached(shard) };
            match &mut sum {
                None => sum = Some(answer),
                Some(sum) => add(sum, &answer, ""),
            }
        }
        sum.map_or_else(|| unreached(0), |sum| axum::Json(sum).into_response())
    }
}

/// Adds the numbers in another response of the same form to `sum`. Of ages it keeps the maximum.
fn add(sum: &mut Value, other: &Value, name: &str) {
    match (sum, other) {
        (Value::Object(sum), Value::Object(other)) => {
            for (name, value) in sum.iter_mut() {
                add(value, &other[name], name);
            }
        }
        (Value::Array(sum), Value::Array(other)) => {
            for (value, other) in sum.iter_mut().zip(other) {
                add(value, other, name);
            }
        }
        (sum @ Value::Number(_), Value::Number(other)) => {
            let (one, other) = (sum.as_i64().unwrap_or(0), other.as_i64().unwrap_or(0));
            match name {
                "documents" | "bytes" | "collections" => *sum = json!(one.saturating_add(other)),
                "oldest_dead_seconds" => *sum = json!(one.max(other)),
                _ => {}
            }
        }
        (sum @ Value::Bool(true), Value::Bool(false)) => *sum = json!(false),
        _ => {}
    }
}

async fn read_json(response: Response) -> Option<Value> {
    let body = axum::body::to_bytes(response.into_body(), ANSWER_MAX).await.ok()?;
    serde_json::from_slice(&body).ok()
}

fn unreached(shard: u32) -> Response {
    Error::unavailable(format!("no owner of shard {shard} can be reached")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_answers() {
        let home = |api, name: &str| RequestScope::Home(api, name.to_owned());
        for (method, uri, scope) in [
            ("GET", "/_ebb/databases/a%20b/collections/c/expiry?door=mongo", home("mongo", "a b")),
            ("GET", "/_ebb/databases/a/collections/c/indexes?x=1&door=nosql", home("nosql", "a")),
            ("GET", "/_ebb/databases/a/collections/c/indexes?door=no", RequestScope::First),
            ("GET", "/_ebb/databases/a/collections/c/expiry", RequestScope::Either("a".to_owned())),
            ("GET", "/_ebb/clock", RequestScope::First),
            ("POST", "/_ebb/clock", RequestScope::Clock),
            ("POST", "/_ebb/clock/accept", RequestScope::Each),
            ("PUT", "/_ebb/features", RequestScope::Each),
            ("GET", "/_ebb/features", RequestScope::First),
            ("GET", "/_ebb/expiry/series?step=1", RequestScope::Sum),
            ("GET", "/_ebb/databases", RequestScope::List("databases")),
            ("GET", "/_ebb/collections?database=a", RequestScope::List("collections")),
            ("POST", "/_ebb/quickstart", RequestScope::First),
        ] {
            let method = method.parse().unwrap();
            assert_eq!(RequestScope::of(&method, &uri.parse().unwrap()), scope, "{uri}");
        }
    }

    #[test]
    fn amounts_are_added_and_ages_compared() {
        let mut sum = json!({
            "now_ms": 5, "steps": [{ "documents": 1, "bytes": 10 }], "collections": 2,
            "unreaped": { "documents": 1, "oldest_dead_seconds": 9 }, "exact": true,
        });
        let other = json!({
            "now_ms": 7, "steps": [{ "documents": 2, "bytes": 5 }], "collections": 1,
            "unreaped": { "documents": 3, "oldest_dead_seconds": 4 }, "exact": false,
        });
        add(&mut sum, &other, "");
        let wanted = json!({
            "now_ms": 5, "steps": [{ "documents": 3, "bytes": 15 }], "collections": 3,
            "unreaped": { "documents": 4, "oldest_dead_seconds": 9 }, "exact": false,
        });
        assert_eq!(sum, wanted);
    }
}
