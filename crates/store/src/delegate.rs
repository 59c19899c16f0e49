//! A macro that forwards methods of [`Store`](crate::contract::Store) from a wrapper to its inner
//! store. The trait has no default bodies, so a wrapper that omits a method does not compile, even
//! after the trait gains one.

/// Generates methods of [`Store`](crate::Store) that forward to an inner store. Use it inside `impl
/// Store for ..` beside the methods that the wrapper implements itself.
///
/// `$via` names a macro that calls the inner store of a wrapper with any structure:
///
/// ```
/// # use store::{delegate_store, MemorySnapshot, MemoryStore, Store};
/// struct Wrapper(MemoryStore);
///
/// macro_rules! inner {
///     ($wrapper:expr, $store:ident => $call:expr) => {{
///         let $store = &$wrapper.0;
///         $call
///     }};
/// }
///
/// impl Store for Wrapper {
///     type Snapshot = MemorySnapshot;
///
///     fn snapshot(&self) -> MemorySnapshot {
///         self.0.snapshot()
///     }
///
///     delegate_store! { self via inner:
///         capabilities, published, in_flight, commit, create_space, drop_space, all_spaces,
///         set_drop_predicate, reap_space, filtered_through, space_bytes, disk_bytes, tick, health,
///         resume_commits, close
///     }
/// }
/// ```
///
/// `self` is a parameter because a macro cannot refer to the caller's `self`.
#[macro_export]
macro_rules! delegate_store {
    ($this:ident via $via:ident: $($method:ident),* $(,)?) => {
        $($crate::delegate_store! { @method $method $this $via })*
    };
    (@method capabilities $this:ident $via:ident) => {
        fn capabilities(&$this) -> $crate::Capabilities {
            $via!($this, inner => inner.capabilities())
        }
    };
    (@method published $this:ident $via:ident) => {
        fn published(&$this) -> u64 {
            $via!($this, inner => inner.published())
        }
    };
    (@method in_flight $this:ident $via:ident) => {
        fn in_flight(&$this) -> &$crate::InFlight {
            $via!($this, inner => inner.in_flight())
        }
    };
    (@method commit $this:ident $via:ident) => {
        async fn commit(
            &$this,
            commits: Vec<$crate::Commit>,
        ) -> Result<Vec<$crate::Outcome>, $crate::Error> {
            $via!($this, inner => inner.commit(commits).await)
        }
    };
    (@method create_space $this:ident $via:ident) => {
        fn create_space(&$this, space: $crate::Space) -> Result<(), $crate::Error> {
            $via!($this, inner => inner.create_space(space))
        }
    };
    (@method drop_space $this:ident $via:ident) => {
        fn drop_space(&$this, space: $crate::Space) -> Result<(), $crate::Error> {
            $via!($this, inner => inner.drop_space(space))
        }
    };
    (@method all_spaces $this:ident $via:ident) => {
        fn all_spaces(&$this) -> Vec<$crate::Space> {
            $via!($this, inner => inner.all_spaces())
        }
    };
    (@method set_drop_predicate $this:ident $via:ident) => {
        fn set_drop_predicate(&$this, predicate: std::sync::Arc<dyn $crate::DropPredicate>) {
            $via!($this, inner => inner.set_drop_predicate(predicate));
        }
    };
    (@method reap_space $this:ident $via:ident) => {
        async fn reap_space(&$this, space: $crate::Space) -> Result<(), $crate::Error> {
            $via!($this, inner => inner.reap_space(space).await)
        }
    };
    (@method filtered_through $this:ident $via:ident) => {
        fn filtered_through(&$this, space: $crate::Space) -> u64 {
            $via!($this, inner => inner.filtered_through(space))
        }
    };
    (@method space_bytes $this:ident $via:ident) => {
        fn space_bytes(&$this, space: $crate::Space) -> u64 {
            $via!($this, inner => inner.space_bytes(space))
        }
    };
    (@method disk_bytes $this:ident $via:ident) => {
        fn disk_bytes(&$this) -> u64 {
            $via!($this, inner => inner.disk_bytes())
        }
    };
    (@method tick $this:ident $via:ident) => {
        fn tick(&$this) -> Result<(), $crate::Error> {
            $via!($this, inner => inner.tick())
        }
    };
    (@method health $this:ident $via:ident) => {
        fn health(&$this) -> $crate::Health {
            $via!($this, inner => inner.health())
        }
    };
    (@method resume_commits $this:ident $via:ident) => {
        fn resume_commits(&$this) {
            $via!($this, inner => inner.resume_commits());
        }
    };
    (@method close $this:ident $via:ident) => {
        async fn close(&$this) -> Result<(), $crate::Error> {
            $via!($this, inner => inner.close().await)
        }
    };
}
