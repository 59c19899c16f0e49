//! Requests of frames: tokens become the method, link and headers that an HTTP request has.

use bytes::Bytes;
use http::{HeaderValue, Method};
use rntbd::{OperationType, RequestHead, RequestToken, RequestTokens, ResourceType, Token};

use super::{
    BrokenFrame,
    frame_link::{Names, kind_of, no_operation, read_link},
};
use crate::{
    exchange::{Activity, Head, Target},
    failure::{Failure, Result},
    headers::{Flag, Headers, Text},
    link::{Link, Resource},
    operation::Operation,
    routes::addresses::OWNER_SERVICE,
    transport::Transport,
};

/// What the context of a connection says about its client.
#[derive(Clone, Debug)]
pub(crate) struct ClientInfo {
    /// Version of the API that requests have if they state none.
    pub(crate) version: HeaderValue,
    pub(crate) agent: HeaderValue,
}

/// A request that was decoded from a frame.
#[derive(Debug)]
pub(crate) struct FrameRequest {
    /// Number of the request on its connection, which the answer repeats.
    pub(super) id: u32,
    /// Whether a body follows the frame.
    pub(super) has_body: bool,
    pub(super) head: Head,
    /// Whether the client took this server's address for that of the node that owns the data.
    pub(super) names_owner: bool,
    /// The request, or the failure with which it is answered.
    pub(crate) parts: Result<(Method, Link, Headers)>,
}

impl FrameRequest {
    /// Returns whether the request creates a database, whose name is then in its body.
    pub(super) fn creates_database(&self) -> bool {
        self.parts.as_ref().is_ok_and(|(method, link, headers)| {
            Operation::decide(method, link, headers) == Operation::CreateDatabase
        })
    }
}

/// The tokens of a frame that are not headers, and the headers.
struct FrameParts<'a> {
    /// The tokens of the frame; headers share their memory.
    bytes: &'a Bytes,
    names: Names<'a>,
    headers: Headers,
    id: Option<u32>,
    payload: Option<bool>,
    replica_path: Option<&'a str>,
    matched: Option<HeaderValue>,
    /// Resource id of the container that the client knows by the name in the link.
    known_container: Option<HeaderValue>,
    has_version: bool,
    epk: [Option<&'a [u8]>; 2],
    key_type: u8,
    parent: Option<HeaderValue>,
    /// The first value that no header can have.
    failure: Option<Failure>,
}

/// Decodes a request from the head and the tokens of its frame. Fails if the frame is not one.
pub(crate) fn read_frame(
    head: &RequestHead,
    bytes: &Bytes,
    client: &ClientInfo,
) -> Result<FrameRequest, BrokenFrame> {
    let mut parts = FrameParts {
        bytes,
        names: Names::default(),
        headers: Headers::default(),
        id: None,
        payload: None,
        replica_path: None,
        matched: None,
        known_container: None,
        has_version: false,
        epk: [None; 2],
        key_type: 0,
        parent: None,
        failure: None,
    };
    for token in RequestTokens::new(bytes) {
        let (name, token) = token?;
        parts.read_token(name, &token)?;
    }
    let (Some(id), Some(has_body), Some(path)) = (parts.id, parts.payload, parts.replica_path)
    else {
        return Err(BrokenFrame);
    };
    let names_owner = path.contains(OWNER_SERVICE);
    if !parts.has_version {
        parts.headers.set_text(Text::version, client.version.clone());
    }
    let parent = parts.parent.take();
    let parts = parts.finish(head);
    let (target, about_items) = match &parts {
        Ok((_, link, _)) => (
            Target::Link(link.signed.clone()),
            // Clients take the range of a container from each answer about something in it.
            link.is_about_items() || link.kind == Resource::Containers && link.name.is_some(),
        ),
        Err(_) => (Target::Uri(http::Uri::default()), false),
    };
    let head = Head {
        transport: Transport::Direct,
        activity: Activity::Guid(head.activity),
        target,
        agent: Some(client.agent.clone()),
        parent,
        about_items,
    };
    Ok(FrameRequest { id, has_body, head, names_owner, parts })
}

impl<'a> FrameParts<'a> {
    fn read_token(&mut self, name: RequestToken, token: &Token<'a>) -> Result<(), BrokenFrame> {
        use RequestToken as Name;
        match name {
            Name::TransportRequestId => self.id = Some(token.ulong()?),
            Name::PayloadPresent => self.payload = Some(token.byte()? != 0),
            Name::ReplicaPath => self.replica_path = Some(token.text()?),
            Name::ResourceId => self.names.rid = Some(token.value),
            Name::DatabaseName => self.names.database = Some(token.text()?),
            Name::CollectionName => self.names.container = Some(token.text()?),
            Name::UserName => self.names.user = Some(token.text()?),
            Name::DocumentName => self.set_leaf(Resource::Documents, token)?,
            Name::PermissionName => self.set_leaf(Resource::Permissions, token)?,
            Name::StoredProcedureName => self.set_leaf(Resource::Procedures, token)?,
            Name::UserDefinedFunctionName => self.set_leaf(Resource::Udfs, token)?,
            Name::TriggerName => self.set_leaf(Resource::Triggers, token)?,
            Name::ConflictName => self.set_leaf(Resource::Conflicts, token)?,
            Name::PartitionKeyRangeName => self.set_leaf(Resource::Ranges, token)?,
            Name::ClientEncryptionKeyName => self.set_leaf(Resource::ClientKeys, token)?,
            Name::Match => self.matched = self.value_of(token)?,
            Name::CollectionRid => {
                self.known_container = self.known_container.take().or(self.value_of(token)?);
            }
            Name::IntendedCollectionRid => self.known_container = self.value_of(token)?,
            Name::StartEpk => self.epk[0] = Some(token.value),
            Name::EndEpk => self.epk[1] = Some(token.value),
            Name::ReadFeedKeyType => self.key_type = token.byte()?,
            Name::TraceParent => self.parent = self.value_of(token)?,
            _ => self.read_header(name, token)?,
        }
        Ok(())
    }

    /// Stores a token that corresponds to one header.
    fn read_header(&mut self, name: RequestToken, token: &Token<'a>) -> Result<(), BrokenFrame> {
        use RequestToken as Name;
        let text = match name {
            Name::AuthorizationToken => Text::authorization,
            Name::Date => Text::ms_date,
            Name::SessionToken => Text::session,
            Name::ContinuationToken => Text::continuation,
            Name::PreTriggerInclude => Text::pre_triggers,
            Name::PostTriggerInclude => Text::post_triggers,
            Name::ClientVersion => {
                self.has_version = true;
                Text::version
            }
            Name::PartitionKey => Text::partition_key,
            Name::PartitionKeyRangeId => Text::range_id,
            Name::AIm => Text::a_im,
            Name::IfModifiedSince => Text::if_modified_since,
            Name::ChangeFeedWireFormatVersion => Text::wire_format,
            _ => return self.read_number(name, token),
        };
        if let Some(value) = self.value_of(token)? {
            self.headers.set_text(text, value);
        }
        Ok(())
    }

    /// Stores a token of a number, of a boolean or of one of several names.
    fn read_number(&mut self, name: RequestToken, token: &Token<'a>) -> Result<(), BrokenFrame> {
        use RequestToken as Name;
        let levels = &["Strong", "BoundedStaleness", "Session", "Eventual", "ConsistentPrefix"];
        match name {
            Name::PageSize => {
                // The largest number stands for -1, which requests the largest page.
                let size = token.ulong()?;
                let size = if size == u32::MAX { -1 } else { i64::from(size) };
                self.headers.set_number(Text::max_items, size);
            }
            Name::ResponseContinuationTokenLimitInKb => {
                self.headers.set_number(Text::continuation_limit, token.ulong()?.into());
            }
            Name::ResourceTokenExpiry => {
                self.headers.set_number(Text::expiry_seconds, token.ulong()?.into());
            }
            Name::IndexingDirective => {
                self.set_named(
                    Text::indexing_directive,
                    &["Default", "Include", "Exclude"],
                    token,
                )?;
            }
            Name::ConsistencyLevel => self.set_named(Text::consistency, levels, token)?,
            Name::ContentSerializationFormat => {
                let formats = &["JsonText", "CosmosBinary", "HybridRow"];
                self.set_named(Text::content_format, formats, token)?;
            }
            Name::ReturnPreference if token.byte()? == 1 => {
                self.headers.set_text(Text::prefer, HeaderValue::from_static("return=minimal"));
            }
            Name::PopulateQuotaInfo => self.set_flag(Flag::quota_info, token)?,
            Name::PopulateQueryMetrics => self.set_flag(Flag::query_metrics, token)?,
            Name::IsBatchAtomic => self.set_flag(Flag::atomic, token)?,
            Name::ShouldBatchContinueOnError => self.set_flag(Flag::continue_on_error, token)?,
            Name::PopulateIndexMetrics => self.set_flag(Flag::index_metrics, token)?,
            Name::PopulateIndexMetricsV2 => self.set_flag(Flag::index_metrics_v2, token)?,
            _ => {}
        }
        Ok(())
    }

    fn set_leaf(&mut self, kind: Resource, token: &Token<'a>) -> Result<(), BrokenFrame> {
        // Names of two kinds are refused: they could not both be what the sender signed.
        match self.names.leaf.replace((kind, token.text()?)) {
            None => Ok(()),
            Some(_) => Err(BrokenFrame),
        }
    }

    fn set_flag(&mut self, flag: Flag, token: &Token<'a>) -> Result<(), BrokenFrame> {
        self.headers.set_flag(flag, token.byte()? != 0);
        Ok(())
    }

    /// Stores the name that a number stands for.
    fn set_named(
        &mut self,
        text: Text,
        names: &[&'static str],
        token: &Token<'a>,
    ) -> Result<(), BrokenFrame> {
        let number = token.byte()?;
        match names.get(usize::from(number)) {
            Some(name) => self.headers.set_text(text, HeaderValue::from_static(name)),
            None => {
                let text = format!("Invalid value '{number}' specified for token {:#x}.", token.id);
                self.failure.get_or_insert(Failure::bad_request(text));
            }
        }
        Ok(())
    }

    /// Returns a text as the value of a header, or `None` for a text that is refused because it has
    /// a control character.
    fn value_of(&mut self, token: &Token<'a>) -> Result<Option<HeaderValue>, BrokenFrame> {
        let text = token.text()?;
        let value = HeaderValue::from_maybe_shared(self.bytes.slice_ref(text.as_bytes())).ok();
        if value.is_none() {
            let text = format!("The value of token {:#x} has a control character.", token.id);
            self.failure.get_or_insert(Failure::bad_request(text));
        }
        Ok(value)
    }

    /// Completes the request once all tokens are read.
    fn finish(mut self, head: &RequestHead) -> Result<(Method, Link, Headers)> {
        let types = (ResourceType::of_code(head.resource), OperationType::of_code(head.operation));
        let (Some(resource), Some(operation)) = types else {
            return Err(no_operation(head.operation, head.resource));
        };
        let kind = kind_of(resource);
        let method = self
            .set_operation(operation, kind)
            .ok_or_else(|| no_operation(head.operation, head.resource))?;
        let reads = matches!(
            operation,
            OperationType::Read | OperationType::ReadFeed | OperationType::Head
        );
        if let Some(value) = self.matched.take() {
            let text = if reads { Text::if_none_match } else { Text::if_match };
            self.headers.set_text(text, value);
        }
        if let Some(value) = self.known_container.take() {
            self.headers.set_text(Text::intended_container, value);
        }
        self.set_bounds()?;
        let link = read_link(kind, operation, &self.names)?;
        match self.failure {
            Some(failure) => Err(failure),
            None => Ok((method, link, self.headers)),
        }
    }

    /// Sets what HTTP expresses by the method and by headers that have no token. Returns the method;
    /// `None` if the kind of resource does not have the operation.
    fn set_operation(&mut self, operation: OperationType, kind: Resource) -> Option<Method> {
        let of_items = kind == Resource::Documents;
        let flags: &[Flag] = match operation {
            // A query in direct mode is for one range, so it need not permit crossing ranges.
            OperationType::Query | OperationType::SqlQuery => {
                &[Flag::is_query, Flag::cross_partition]
            }
            OperationType::QueryPlan if of_items => &[Flag::is_query, Flag::is_plan],
            OperationType::Upsert if of_items => &[Flag::is_upsert],
            OperationType::Batch if of_items => &[Flag::is_batch],
            OperationType::QueryPlan | OperationType::Upsert | OperationType::Batch => return None,
            _ => &[],
        };
        for flag in flags {
            self.headers.set_flag(*flag, true);
        }
        Some(match operation {
            OperationType::Read | OperationType::ReadFeed => Method::GET,
            OperationType::Head | OperationType::HeadFeed => Method::HEAD,
            OperationType::Replace => Method::PUT,
            OperationType::Delete => Method::DELETE,
            OperationType::Patch => Method::PATCH,
            _ => Method::POST,
        })
    }

    /// Stores the bounds of effective partition keys: of type 3 as hexadecimal text, else as bytes.
    fn set_bounds(&mut self) -> Result<()> {
        const AS_TEXT: u8 = 3;
        for (text, bound) in [Text::start_epk, Text::end_epk].into_iter().zip(self.epk) {
            let Some(bound) = bound else { continue };
            let value = match self.key_type {
                AS_TEXT => HeaderValue::from_maybe_shared(self.bytes.slice_ref(bound)),
                _ => {
                    let digits: String = bound.iter().map(|byte| format!("{byte:02X}")).collect();
                    HeaderValue::from_maybe_shared(Bytes::from(digits))
                }
            };
            let value = value.ok().filter(|value| value.as_bytes().is_ascii());
            let value = value.ok_or_else(|| {
                Failure::bad_request("A bound of effective partition keys is not hexadecimal.")
            })?;
            self.headers.set_text(text, value);
        }
        Ok(())
    }
}
