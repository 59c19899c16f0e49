//! Process-wide resources of evaluation: the account of memory that all operations share, and the
//! function that lets other tasks run. A server sets both once at startup; other programs leave
//! them unset.

use std::sync::OnceLock;

use memory::Account;

static PROCESS: OnceLock<(Account, fn())> = OnceLock::new();

/// Sets the process's memory account, from which all compiled patterns are reserved, and
/// `give_way`, which is called every few milliseconds of work that no watch supervises. Only the
/// first call has an effect.
pub fn serve_process(account: &Account, give_way: fn()) {
    let _ = PROCESS.set((account.clone(), give_way));
}

/// Returns the memory account of all operations; `None` if the process is not a server.
pub(crate) fn account() -> Option<&'static Account> {
    PROCESS.get().map(|(account, _)| account)
}

pub(crate) fn give_way() {
    if let Some((_, give_way)) = PROCESS.get() {
        give_way();
    }
}
