//! Division of the process's memory among its parts, and the area for temporary files.

use std::io;

use memory::{Account, Plan};
use server_base::{config::Config, data_dir::DataDir, listen, machine};
use spill::{Area, Limits};

use crate::give_way::give_way;

/// Temporary files use at most 1/`DESCRIPTORS` of the file descriptors.
const DESCRIPTORS: u64 = 16;

/// Returns the memory plan: by the setting, or derived from the machine.
pub fn plan_memory(config: &Config) -> Plan {
    match config.memory {
        Some(process) => Plan { process },
        None => Plan::usual(machine::total_memory()),
    }
}

/// Returns the area for data of operations that exceed their memory: in the data directory, and
/// limited to a fraction of the file descriptors. Files that an earlier process left are removed.
pub(crate) fn temporary_area(directory: &DataDir) -> io::Result<Area> {
    let most = listen::descriptor_limit().map_or(u64::MAX, |limit| limit / DESCRIPTORS);
    let limits = Limits::default();
    let files = limits.files.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    Ok(Area::new(directory.temporary_folder()?, Limits { files, ..limits }))
}

/// Returns the memory plan, the account of all operations, and a sub-account for clients before
/// their first request. The sub-account has its own limit, so that connections which send only half
/// a request cannot take memory from operations.
pub(crate) fn open_accounts(config: &Config) -> (Plan, Account, Account) {
    let plan = plan_memory(config);
    let memory = Account::of_process(plan.operations_bytes(), plan.process, machine::own_bytes);
    // Some memory of the MongoDB API is shared by all operations, so it belongs to no operation's
    // account. Only the first server of a process has an effect here.
    mongo::serve_process(&memory, give_way);
    let strangers = memory.split_off(plan.handshake_bytes());
    (plan, memory, strangers)
}
