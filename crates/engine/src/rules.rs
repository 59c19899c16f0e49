//! The rules of views and of the commit order. In builds with the feature `switchable-rules` one
//! rule can be disabled, so that a test can show that correctness depends on it. In a shipped build
//! all rules are constants.

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $rule:ident,)*) => {
        /// The rules of views and of the commit order; tests disable one at a time.
        #[cfg(feature = "switchable-rules")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Rules {
            $($(#[doc = $doc])* pub $rule: bool,)*
        }

        #[cfg(feature = "switchable-rules")]
        impl Default for Rules {
            fn default() -> Self {
                Self { $($rule: true,)* }
            }
        }

        /// The rules of views and of the commit order, all enabled.
        #[cfg(not(feature = "switchable-rules"))]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Rules {
            /// Private, so that no code outside this module can construct it.
            _all: (),
        }

        impl Rules {
            $(
                $(#[doc = $doc])*
                #[inline]
                pub(crate) const fn $rule(self) -> bool {
                    #[cfg(feature = "switchable-rules")]
                    return self.$rule;
                    #[cfg(not(feature = "switchable-rules"))]
                    true
                }
            )*
        }
    };
}

rules! {
    /// A reader waits and retries if the expiry of a document is later than the oldest commit in
    /// flight, and so not final.
    last_moments,
    /// A write is refused if a document that it found live has expired by its stamp.
    before_expiry,
    /// No view opens while a TTL change is stamped and not published.
    fence,
    /// A write is refused if the settings changed after its view.
    epoch,
    /// A write is refused if its row changed after its view.
    versions,
    /// Open views limit the reap floors (bounds of the data that may be dropped).
    read_guards,
    /// A change of settings does not make documents live again that had expired.
    floors,
    /// A cached row is used only if it was not written since it was read.
    last_writes,
    /// An update of a batch is not made on a version that has expired when it is written.
    batch_lives,
    /// A batch contains an operation and its retry only once.
    batch_receipts,
    /// An update of a batch that writes nothing is answered when the batch is committed.
    batch_answers,
    /// A batch is refused if a unique value of any of its versions was taken after its view.
    batch_unique,
    /// A statement of a transaction fails if no instant remains at which all that the transaction
    /// was shown is true.
    interval,
    /// A statement of a transaction fails if it left out a document as expired that was prolonged.
    renewals,
    /// A transaction commits only before the expiry of the documents that its writes matched.
    reliance,
    /// A transaction fails if a collection that it used has changed since its snapshot.
    transaction_epochs,
    /// The lifetime of a document that a transaction writes begins with the commit.
    own_lifetimes,
}
