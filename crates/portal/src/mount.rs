//! The portal around the routes of the admin address.

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{any, get, post},
};

use crate::{
    doors::Doors,
    error::Error,
    files, gate, login,
    portal::{NOSQL, Portal},
    relay,
};

/// The portal's routes beside these, and its rules around all of them. Paths that begin with `/_`
/// need a login where one is required.
pub fn mount<D: Doors>(portal: Arc<Portal<D>>, routes: Router) -> Router {
    let session = get(login::read::<D>).post(login::begin::<D>).delete(login::end::<D>);
    Router::new()
        .route(gate::SESSION, session)
        .route(NOSQL, any(relay::nosql::<D>))
        .route(&format!("{NOSQL}/"), any(relay::nosql::<D>))
        .route(&format!("{NOSQL}/{{*link}}"), any(relay::nosql::<D>))
        .route("/_portal/api/mongo/{database}", post(relay::mongo::<D>))
        .with_state(Arc::clone(&portal))
        .merge(routes)
        .fallback(files::serve)
        .method_not_allowed_fallback(async || Error::method_not_allowed())
        .layer(middleware::from_fn_with_state(portal, gate::pass::<D>))
}
