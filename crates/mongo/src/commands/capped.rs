//! `convertToCapped` and `cloneCollectionAsCapped`.
//!
//! ```text
//! {convertToCapped: "c", size: 100000}                                    => {ok: 1}
//! {cloneCollectionAsCapped: "c", toCollection: "d", size: 100000}         => {ok: 1}
//! ```

use document::{DocBuf, ValueRef, doc};
use engine::Capped;

use crate::{
    access::Action,
    call::Call,
    errors::{BadValue, CommandNotSupported, Error, InvalidOptions, NamespaceExists, Result},
    names,
    parsers::capped_limits::parse_size,
    replies::ok,
    rights::{CommandRequest, Object, Requirement},
};

/// Arguments of `cloneCollectionAsCapped`. `temp` has no effect: temporary collections do not exist.
pub(super) const CLONE_FIELDS: &[&str] = &["toCollection", "size", "temp"];

/// Runs `convertToCapped`. The collection keeps its documents, in the order of their creation, and
/// its indexes; the oldest documents that exceed the size are removed. It is capped from one commit
/// on, and converting a capped collection changes its size and removes its maximum of documents. As
/// in MongoDB, `max` is accepted without effect; Hangfire sends it.
///
/// Fails with 26 if the collection does not exist, 72 if the size is missing, and 115 on a node of
/// a cluster.
pub(super) async fn convert(call: &Call<'_>) -> Result<DocBuf> {
    let namespace = call.namespace()?;
    let Some(bytes) = parse_size(&call.args(), "size")? else {
        let message = "Capped collection size must be greater than zero";
        return Err(Error::new(InvalidOptions, message));
    };
    refuse_in_cluster(call)?;
    let collection = call.expect_collection(&namespace)?;
    let capped = Capped { bytes, documents: None };
    call.api.engine.convert_to_capped(&collection, capped).await?;
    ok(doc! {})
}

/// Returns the rights that `cloneCollectionAsCapped` requires: to read the source, and to create
/// and fill the target.
pub(super) fn clone_needs(request: &CommandRequest<'_>) -> Result<Vec<Requirement>> {
    let mut needs = vec![Requirement::of(Action::Find, request.collection()?)];
    // Without a name of the target the command fails later.
    let Some(ValueRef::String(target)) = request.body.get("toCollection") else {
        return Ok(needs);
    };
    let target = Object::Collection(names::parse_collection(request.database, target)?);
    for action in [Action::Insert, Action::CreateIndex, Action::ConvertToCapped] {
        needs.push(Requirement::of(action, target.clone()));
    }
    Ok(needs)
}

/// Runs `cloneCollectionAsCapped`: creates a capped collection with the last documents of another
/// one that fit into the size. They keep the time of their last write and their own time to live;
/// indexes, and with them the source's time to live, are not copied.
///
/// Fails with 26 if the source does not exist, 48 if the target exists, 2 if the size is missing,
/// and 115 on a node of a cluster.
pub(super) async fn clone_as_capped(call: &Call<'_>) -> Result<DocBuf> {
    let source = call.namespace()?;
    let args = call.args();
    let target = names::parse_collection(call.database, args.need_str("toCollection")?)?;
    let Some(bytes) = parse_size(&args, "size")? else {
        return Err(Error::new(BadValue, "invalid command spec"));
    };
    call.check_new(&target)?;
    refuse_in_cluster(call)?;
    let collection = call.expect_collection(&source)?;
    if call.find_collection(&target).is_some() {
        let message = "cloneCollectionAsCapped failed - destination collection already exists";
        return Err(Error::new(NamespaceExists, message));
    }
    let capped = Capped { bytes, documents: None };
    call.api.engine.copy_as_capped(&collection, &target, capped).await?;
    ok(doc! {})
}

/// Refuses capped collections on a node of a cluster.
fn refuse_in_cluster(call: &Call<'_>) -> Result<()> {
    if call.api.settings.in_cluster {
        let message = "capped collections are not supported in a cluster";
        return Err(Error::new(CommandNotSupported, message));
    }
    Ok(())
}
