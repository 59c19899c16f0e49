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

/// Returns the portal's routes beside the server's, and its rules around all of them. Paths that
/// begin with `/_` need a login where one is required; a path that is no route is a file or a link
/// of the pages.
pub fn mount<D: Doors>(portal: Arc<Portal<D>>, routes: Router) -> Router {
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
        // Last, so that it is around everything above, the fallbacks too.
        .layer(middleware::from_fn_with_state(portal, gate::pass_gate::<D>))
}
