//! The tokens of answers that a server sends. A client reads the width of a token from its id, so a
//! token of another kind than in this table would break its connection.

use crate::{frame::FrameWriter, token::Kind};

macro_rules! tokens {
    ($($id:literal = $name:ident: $kind:ident,)*) => {
        /// A token of an answer, by its name in the protocol.
        #[allow(missing_docs, reason = "the names are those of the protocol")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AnswerToken {
            $($name,)*
        }

        impl AnswerToken {
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

            /// Returns the token with an id; `None` if the table does not have it.
            pub const fn of_id(id: u16) -> Option<Self> {
                match id {
                    $($id => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

tokens! {
    0x00 = PayloadPresent: Byte,
    0x02 = LastStateChangeDateTime: SmallString,
    0x03 = ContinuationToken: String,
    0x04 = ETag: String,
    0x0c = RetryAfterMilliseconds: ULong,
    0x0e = StorageMaxResourceQuota: String,
    0x0f = StorageResourceQuotaUsage: String,
    0x10 = SchemaVersion: SmallString,
    0x13 = Lsn: LongLong,
    0x14 = ItemCount: ULong,
    0x15 = RequestCharge: Double,
    0x17 = OwnerFullName: String,
    0x18 = OwnerId: String,
    0x1a = QuorumAckedLsn: LongLong,
    0x1c = SubStatus: ULong,
    0x1e = CurrentWriteQuorum: ULong,
    0x1f = CurrentReplicaSetSize: ULong,
    0x21 = PartitionKeyRangeId: String,
    0x26 = XpRole: ULong,
    0x28 = QueryMetrics: String,
    0x29 = GlobalCommittedLsn: LongLong,
    0x30 = NumberOfReadRegions: ULong,
    0x32 = ItemLsn: LongLong,
    0x35 = TransportRequestId: ULong,
    0x39 = ServerDateTimeUtc: SmallString,
    0x3a = LocalLsn: LongLong,
    0x3b = QuorumAckedLocalLsn: LongLong,
    0x3c = ItemLocalLsn: LongLong,
    0x3e = SessionToken: String,
    0x44 = IndexUtilization: String,
    0x45 = QueryExecutionInfo: String,
    0x51 = BackendRequestDurationMilliseconds: Double,
}

impl FrameWriter<'_> {
    /// Appends a token of a number; a number that its kind cannot hold becomes the largest one.
    pub fn push_number(&mut self, token: AnswerToken, number: u64) {
        let id = token.id();
        match token.kind() {
            Kind::Byte => {
                let byte = u8::try_from(number).unwrap_or(u8::MAX);
                self.push(id, Kind::Byte, &[byte]);
            }
            Kind::LongLong => {
                let long = i64::try_from(number).unwrap_or(i64::MAX);
                self.push(id, Kind::LongLong, &long.to_le_bytes());
            }
            _ => {
                let ulong = u32::try_from(number).unwrap_or(u32::MAX);
                self.push(id, Kind::ULong, &ulong.to_le_bytes());
            }
        }
    }

    /// Appends a token of kind `Double`.
    pub fn push_double(&mut self, token: AnswerToken, number: f64) {
        self.push(token.id(), Kind::Double, &number.to_le_bytes());
    }

    /// Appends a token of text. Returns false, and appends nothing, if the text is longer than the
    /// token's kind permits.
    pub fn push_text(&mut self, token: AnswerToken, text: &[u8]) -> bool {
        self.push(token.id(), token.kind(), text)
    }
}
