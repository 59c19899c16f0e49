//! Locks of this crate. A thread that panics while it holds one poisons it. What these locks guard
//! is whole between any two statements, so the next thread goes on with what it finds instead of
//! panicking too.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock, also after another thread has panicked while it held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
