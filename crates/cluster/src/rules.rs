//! The rules of the protocol that can be left out, to show that what it promises needs them; but only
//! in tests of this crate: in every other build all of them are constants.

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $rule:ident,)*) => {
        /// Which rules are kept.
        #[cfg(test)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct Rules {
            $($(#[doc = $doc])* pub(crate) $rule: bool,)*
        }

        #[cfg(test)]
        impl Default for Rules {
            fn default() -> Self {
                Self { $($rule: true,)* }
            }
        }

        /// All rules are kept.
        #[cfg(not(test))]
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
                    #[cfg(test)]
                    return self.$rule;
                    #[cfg(not(test))]
                    true
                }
            )*
        }
    };
}

rules! {
    /// An owner reads the epoch after a write and before it calls the entry committed.
    check_after_write,
    /// An entry is committed only when all before it are.
    commit_in_order,
    /// An epoch ends before its first missing entry.
    cut_at_gap,
    /// What may not be on a quorum is written again before an epoch is closed.
    write_tail_again,
    /// An epoch's end counts only once a swap has set it.
    end_by_swap,
    /// A claim is made again until a quorum has it.
    confirm_claim,
    /// The owner's lease is ended before its shard is claimed.
    fence_first,
    /// A lease counts from the tick that asked for its beat, not from the answer.
    until_by_tick,
    /// Followers apply only what is committed.
    follow_committed,
    /// A new owner's clock begins behind the checkpoint in the last beat.
    clock_of_beat,
    /// Besides the lease a margin is waited for.
    margin,
}
