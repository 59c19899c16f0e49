//! What the process has for everything that is evaluated in it, whoever asked: the account of what all
//! operations share, and what lets others run. It is given once, when a server starts; a program
//! that is no server has neither.

use std::sync::OnceLock;

use memory::Account;

static PROCESS: OnceLock<(Account, fn())> = OnceLock::new();

/// Gives the process an account, from which all compiled patterns are taken, and a `give_way`, which
/// is called every few milliseconds of work that no operation watches over. Only the first call
/// counts.
pub fn serve_process(account: &Account, give_way: fn()) {
    let _ = PROCESS.set((account.clone(), give_way));
}

/// The account of what all operations share; none where there is no server.
pub(crate) fn account() -> Option<&'static Account> {
    PROCESS.get().map(|(account, _)| account)
}

/// Lets others run.
pub(crate) fn give_way() {
    if let Some((_, give_way)) = PROCESS.get() {
        give_way();
    }
}
