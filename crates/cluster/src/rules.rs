//! Protocol rules that tests of this crate can disable, to show that each is necessary. In every
//! other build all of them are constant true.

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $rule:ident,)*) => {
        /// The protocol rules that are in effect; a test can disable each of them.
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

        /// All rules are in force.
        #[cfg(not(test))]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Rules {
            /// Private, so that only this module constructs the value.
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
    /// An owner reads the epoch after a write and before it considers the entry committed.
    check_after_write,
    /// An entry is committed only when all before it are.
    commit_in_order,
    /// An epoch ends before its first missing entry.
    cut_at_gap,
    /// Entries that may not be on a quorum are rewritten before an epoch is closed.
    write_tail_again,
    /// An epoch is ended only by a compare-and-swap of its record.
    end_by_swap,
    /// The claim of a shard is repeated until a quorum has it.
    confirm_claim,
    /// The owner's lease is ended before its shard is claimed.
    fence_first,
    /// A lease starts at the tick that sent its heartbeat, not at the reply.
    until_by_tick,
    /// Followers apply only committed entries.
    follow_committed,
    /// The clock of a new owner starts after the checkpoint in the previous owner's last heartbeat.
    clock_of_beat,
    /// Other nodes wait for a margin in addition to the length of a lease, since clocks run at
    /// different rates.
    margin,
}
