//! What each part of the process may hold of its memory, and where it puts the rest.

use std::io;

use memory::{Account, Plan};
use spill::{Area, Limits};

use crate::{config::Config, data_dir::DataDir, give_way::give_way, listen, machine};

/// Temporary files have this part of all descriptors at most.
const DESCRIPTORS: u64 = 16;

/// How the memory of a server of this configuration is divided.
pub(crate) fn plan_memory(config: &Config) -> Plan {
    match config.memory {
        Some(process) => Plan { process },
        None => Plan::usual(machine::total_memory()),
    }
}

/// Where operations put what they cannot hold: beside the data, with a part of the descriptors.
pub(crate) fn temporary_area(directory: &DataDir) -> io::Result<Area> {
    let most = listen::descriptor_limit().map_or(u64::MAX, |limit| limit / DESCRIPTORS);
    let limits = Limits::default();
    let files = limits.files.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    Ok(Area::new(directory.temporary_folder()?, Limits { files, ..limits }))
}

/// How memory is divided, the account of all operations, and the part of it for clients that have not asked anything yet.
pub(crate) fn open_accounts(config: &Config) -> (Plan, Account, Account) {
    let plan = plan_memory(config);
    let memory =
        Account::of_process(plan.operations_bytes(), plan.process, machine::resident_bytes);
    mongo::take_patterns_from(&memory, give_way);
    let strangers = memory.split_off(plan.strangers_bytes());
    (plan, memory, strangers)
}
