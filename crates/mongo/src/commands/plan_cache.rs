//! `planCacheClear`, `planCacheListFilters`, `planCacheClearFilters`: nothing is cached, since each
//! query is planned when it begins, and there are no index filters. The arguments are checked.
//!
//! ```text
//! {planCacheClear: "c"}                            => {ok: 1}
//! {planCacheClear: "c", query: {a: 1}, sort: ..}   => {ok: 1}
//! {planCacheListFilters: "c"}                      => {filters: [], ok: 1}
//! ```

use document::{DocBuf, Value, doc};

use crate::{
    call::Call,
    errors::{BadValue, Error, Result},
    parsers::collation::parse_collation,
    replies::ok,
};

/// The arguments that describe the shape of a query.
pub(super) const SHAPE: &[&str] = &["query", "sort", "projection", "collation"];

/// Runs `planCacheClear` and `planCacheClearFilters`, for one query shape or for all of a
/// collection.
///
/// Fails with 2 if there is a sort, a projection or a collation but no query, and with the parse
/// errors of these arguments.
pub(super) async fn clear(call: &Call<'_>) -> Result<DocBuf> {
    call.namespace()?;
    let args = call.args();
    let query = args.document("query")?;
    let (sort, projection) = (args.document("sort")?, args.document("projection")?);
    if query.is_none() && SHAPE.iter().any(|name| args.get(name).is_some()) {
        let message = "sort, projection, or collation provided without query";
        return Err(Error::new(BadValue, message));
    }
    parse_collation(&args)?;
    query.map(mongo_query::filter::parse).transpose()?;
    sort.map(mongo_query::sort::parse).transpose()?;
    let projection = projection.filter(|projection| !projection.is_empty());
    projection.map(mongo_query::projection::parse_find).transpose()?;
    ok(doc! {})
}

/// Runs `planCacheListFilters`, also for a missing collection.
pub(super) async fn list_filters(call: &Call<'_>) -> Result<DocBuf> {
    call.namespace()?;
    ok(doc! { "filters": Value::Array(Vec::new()) })
}
