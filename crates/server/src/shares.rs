//! What each part of the process may hold of its memory, and where it puts the rest.

use std::io;

use memory::{Account, Plan};
use spill::{Area, Limits};

use crate::{config::Config, data_dir::DataDir, give_way::give_way, listen, machine};

/// Temporary files have at most this part (1/16) of all descriptors.
const DESCRIPTORS: u64 = 16;

/// Returns how the memory of the process is divided: of the setting, or else of the machine.
pub(crate) fn plan_memory(config: &Config) -> Plan {
    match config.memory {
        Some(process) => Plan { process },
        None => Plan::usual(machine::total_memory()),
    }
}

/// Returns where operations put what they cannot hold in memory: in the data directory, with a part
/// of the descriptors. A server without a data directory has none, and such operations fail. What an
/// earlier process left there is removed.
pub(crate) fn temporary_area(directory: &DataDir) -> io::Result<Area> {
    let most = listen::descriptor_limit().map_or(u64::MAX, |limit| limit / DESCRIPTORS);
    let limits = Limits::default();
    let files = limits.files.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    Ok(Area::new(directory.temporary_folder()?, Limits { files, ..limits }))
}

/// Returns how memory is divided, the account of all operations, and the part of it for clients that
/// have not asked anything yet. That part is a limit of its own so that connections which only send
/// half a request cannot take what operations need.
pub(crate) fn open_accounts(config: &Config) -> (Plan, Account, Account) {
    let plan = plan_memory(config);
    let memory = Account::of_process(plan.operations_bytes(), plan.process, machine::own_bytes);
    // Some things are shared by all operations of the process, so they have no operation's account.
    // Only the first server of a process does this.
    mongo::serve_process(&memory, give_way);
    let strangers = memory.split_off(plan.strangers_bytes());
    (plan, memory, strangers)
}
