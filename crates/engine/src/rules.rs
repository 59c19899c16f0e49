//! The rules of views and of the order of commits. Each can be left out to show that the law needs
//! it, but only in a build with the feature `switchable-rules`, which nothing but tests of the
//! tests turns on: in a shipped build all of them are constants.

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $rule:ident,)*) => {
        /// Which rules are kept.
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

        /// All rules are kept.
        #[cfg(not(feature = "switchable-rules"))]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Rules {
            /// Nobody but this module makes one, so that no rule can be named outside.
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
    /// Who meets something that expired in the last moments waits and looks again.
    last_moments,
    /// A write is refused when what it found live has expired by its stamp.
    before_expiry,
    /// No view opens while a change of TTL is between stamp and publication.
    fence,
    /// A write is refused when the settings changed after its view.
    epoch,
    /// A write is refused when its row changed after its view.
    versions,
    /// Open views hold the reap floors.
    read_guards,
    /// A change of settings keeps what had expired.
    floors,
    /// A row in memory is used where nobody wrote it since it was read.
    last_writes,
}
