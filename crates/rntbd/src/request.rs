//! The tokens of requests that a server reads, and the types of resources and operations. Tokens
//! that only the service's own components send are left out, and so are skipped like unknown ones.

use crate::{
    Invalid, Result,
    token::{Kind, Token, Tokens},
};

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($code:literal = $variant:ident,)* }) => {
        $(#[$doc])*
        #[allow(missing_docs, reason = "the names are those of the protocol")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($variant,)*
        }

        impl $name {
            /// Returns the type with this code; `None` if no server handles it.
            pub const fn of_code(code: u16) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns the code in the head of a frame.
            pub const fn code(self) -> u16 {
                match self {
                    $(Self::$variant => $code,)*
                }
            }
        }
    };
}

codes! {
    /// The type of the resource that a request is about.
    ResourceType {
        0x01 = Database,
        0x02 = Collection,
        0x03 = Document,
        0x05 = User,
        0x06 = Permission,
        0x07 = StoredProcedure,
        0x08 = Conflict,
        0x09 = Trigger,
        0x0a = UserDefinedFunction,
        0x16 = PartitionKeyRange,
        0x23 = ClientEncryptionKey,
    }
}

codes! {
    /// The type of the requested operation.
    OperationType {
        0x01 = Create,
        0x02 = Patch,
        0x03 = Read,
        0x04 = ReadFeed,
        0x05 = Delete,
        0x06 = Replace,
        0x08 = ExecuteJavaScript,
        0x09 = SqlQuery,
        0x0f = Query,
        0x11 = Head,
        0x12 = HeadFeed,
        0x13 = Upsert,
        0x25 = Batch,
        0x42 = QueryPlan,
    }
}

macro_rules! tokens {
    ($($id:literal = $name:ident: $kind:ident,)*) => {
        /// A token of a request, by its name in the protocol.
        #[allow(missing_docs, reason = "the names are those of the protocol")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RequestToken {
            $($name,)*
        }

        impl RequestToken {
            /// Returns the id of the token in frames.
            pub const fn id(self) -> u16 {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// Returns the kind that the token has in all frames.
            pub const fn kind(self) -> Kind {
                match self {
                    $(Self::$name => Kind::$kind,)*
                }
            }

            const fn of_id(id: u16) -> Option<Self> {
                match id {
                    $($id => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

tokens! {
    0x00 = ResourceId: Bytes,
    0x01 = AuthorizationToken: String,
    0x02 = PayloadPresent: Byte,
    0x03 = Date: SmallString,
    0x04 = PageSize: ULong,
    0x05 = SessionToken: String,
    0x06 = ContinuationToken: String,
    0x07 = IndexingDirective: Byte,
    0x08 = Match: String,
    0x09 = PreTriggerInclude: String,
    0x0a = PostTriggerInclude: String,
    0x10 = ConsistencyLevel: Byte,
    0x13 = ReplicaPath: String,
    0x14 = ResourceTokenExpiry: ULong,
    0x15 = DatabaseName: String,
    0x16 = CollectionName: String,
    0x17 = DocumentName: String,
    0x19 = UserName: String,
    0x1a = PermissionName: String,
    0x1b = StoredProcedureName: String,
    0x1c = UserDefinedFunctionName: String,
    0x1d = TriggerName: String,
    0x20 = ConflictName: String,
    0x28 = ClientVersion: SmallString,
    0x2b = PartitionKey: String,
    0x2c = PartitionKeyRangeId: String,
    0x35 = CollectionRid: String,
    0x36 = PartitionKeyRangeName: String,
    0x3f = AIm: String,
    0x40 = PopulateQuotaInfo: Byte,
    0x42 = PopulateQueryMetrics: Byte,
    0x43 = ResponseContinuationTokenLimitInKb: ULong,
    0x47 = IfModifiedSince: String,
    0x4d = TransportRequestId: ULong,
    0x62 = StartEpk: Bytes,
    0x63 = EndEpk: Bytes,
    0x64 = ReadFeedKeyType: Byte,
    0x65 = ContentSerializationFormat: Byte,
    0x73 = IsBatchAtomic: Byte,
    0x74 = ShouldBatchContinueOnError: Byte,
    0x80 = ClientEncryptionKeyName: String,
    0x82 = ReturnPreference: Byte,
    0x9d = IntendedCollectionRid: String,
    0xa9 = PopulateIndexMetrics: Byte,
    0xb2 = ChangeFeedWireFormatVersion: String,
    0xc2 = PopulateIndexMetricsV2: Byte,
    0xcc = TraceParent: String,
}

/// The known tokens of a request in their order. A known token of another kind, or one that occurs
/// twice, is an error; the iterator ends after its first error.
#[derive(Clone, Copy, Debug)]
pub struct RequestTokens<'a> {
    tokens: Tokens<'a>,
    /// A bit for each token that has occurred, by its position in the table.
    seen: u64,
}

impl<'a> RequestTokens<'a> {
    /// Creates an iterator over the bytes between the head of a request and its body.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { tokens: Tokens::new(bytes), seen: 0 }
    }

    /// Returns the name of a token, or `None` if it is unknown.
    fn check(&mut self, token: &Token<'a>) -> Result<Option<RequestToken>> {
        let Some(name) = RequestToken::of_id(token.id) else { return Ok(None) };
        let bit = 1 << (name as u8);
        if self.seen & bit != 0 {
            return Err(Invalid("a token occurs twice"));
        }
        self.seen |= bit;
        match name.kind() == token.kind {
            true => Ok(Some(name)),
            false => Err(Invalid("a token has the kind of another token")),
        }
    }
}

impl<'a> Iterator for RequestTokens<'a> {
    type Item = Result<(RequestToken, Token<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let checked = match self.tokens.next()? {
                Ok(token) => self.check(&token).map(|name| name.map(|name| (name, token))),
                Err(invalid) => Err(invalid),
            };
            match checked {
                Ok(None) => {}
                Ok(Some(found)) => return Some(Ok(found)),
                Err(invalid) => {
                    self.tokens = Tokens::new(&[]);
                    return Some(Err(invalid));
                }
            }
        }
    }
}
