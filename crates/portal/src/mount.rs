//! Adds the portal's routes and access control to the routes of the admin address.

use std::sync::Arc;

use axum::{
    Router, middleware,
    routing::{any, get, post},
};

use crate::{
    apis::Apis,
    error::Error,
    files, gate, login,
    portal::{NOSQL, Portal},
    relay,
};

/// Returns the routes of the portal and of the server, with the portal's checks around all of them.
/// Paths that start with `/_` require a login if the portal does. Other paths without a route are
/// files of the pages, or links into them.
pub fn mount<D: Apis>(portal: Arc<Portal<D>>, routes: Router) -> Router {
    let session = get(login::get_login::<D>).post(login::sign_in::<D>).delete(login::sign_out::<D>);
    Router::new()
        .route(gate::SESSION, session)
        .route(NOSQL, any(relay::relay_nosql::<D>))
        .route(&format!("{NOSQL}/"), any(relay::relay_nosql::<D>))
        .route(&format!("{NOSQL}/{{*link}}"), any(relay::relay_nosql::<D>))
        .route("/_portal/api/mongo/{database}", post(relay::relay_mongo::<D>))
        .with_state(Arc::clone(&portal))
        .merge(routes)
        .fallback(files::serve_file)
        .method_not_allowed_fallback(async || Error::method_not_allowed())
        // Added last, so that it applies to everything above, including the fallbacks.
        .layer(middleware::from_fn_with_state(portal, gate::pass_gate::<D>))
}
