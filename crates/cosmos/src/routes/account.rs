//! The account, and the certificate that tools fetch before they trust it.

use engine::Store;

use crate::{
    account,
    call::Call,
    charge::Work,
    door::Door,
    failure::{Failure, Result},
    reply::Reply,
};

/// Where clients go on.
pub(crate) fn read<S: Store>(door: &Door<S>, call: &Call<'_>) -> Result<Reply> {
    let authority = call.headers.host.ok_or_else(|| Failure::bad("There is no header 'host'."))?;
    let body = account::document(&door.settings.account, call.scheme, authority);
    Ok(Reply::json(200, body).charged(Work::PointRead, 0))
}

/// The certificate as text.
pub(crate) fn certificate<S: Store>(door: &Door<S>) -> Result<Reply> {
    let certificate = door.settings.certificate.as_ref().ok_or_else(Failure::no_resource)?;
    Ok(Reply {
        content_type: Some("application/x-pem-file"),
        ..Reply::json(200, certificate.certificate().as_bytes().to_vec())
    })
}
