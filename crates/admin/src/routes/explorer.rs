//! Serves the data explorer's pages at the admin address.

use axum::{
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
};

use super::{Shared, error::Error};
use crate::explorer::ReceivedAt;

/// Handles `/_explorer`, paths below it, and `/config.json`.
pub(crate) async fn get_page(State(shared): State<Shared>, request: Request) -> Response {
    match shared.explorer.answer(ReceivedAt::Admin, &request.into_parts().0) {
        Some(page) => page.await.map(Body::from),
        None => Error::not_found("page not found").into_response(),
    }
}
