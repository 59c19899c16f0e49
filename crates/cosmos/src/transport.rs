//! The transports by which requests arrive, and how they report faults.

use crate::failure::Fault;

/// The transport of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// HTTP/1 or HTTP/2, the protocol of clients in gateway mode.
    Http,
    /// Frames, the protocol of clients in direct mode.
    Direct,
}

impl Transport {
    /// Returns the name of the protocol in logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Direct => "rntbd",
        }
    }
}

impl Fault {
    /// Returns status, sub-status and name of the fault in an answer of this transport. A client in
    /// direct mode keeps a cache of containers and ranges, and reads each again on a sub-status of
    /// its own.
    pub(crate) const fn on(self, transport: Transport) -> (u16, u32, &'static str) {
        match (transport, self) {
            (Transport::Direct, Self::Recreated) => (410, 1000, "Gone"),
            (Transport::Direct, Self::Gone) => (410, 1007, "Gone"),
            _ => self.table_row(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_mode_has_numbers_of_its_own_for_stale_caches() {
        for fault in Fault::ALL {
            let want = match fault {
                Fault::Recreated => (410, 1000, "Gone"),
                Fault::Gone => (410, 1007, "Gone"),
                other => other.on(Transport::Http),
            };
            assert_eq!(fault.on(Transport::Direct), want, "{fault:?}");
        }
    }
}
