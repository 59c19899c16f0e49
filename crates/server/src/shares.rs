//! What each part of the process may hold of its memory.

use memory::{Account, Plan};

use crate::{Config, machine};

/// How the memory of a server of this configuration is divided.
pub(crate) fn plan(config: &Config) -> Plan {
    match config.memory {
        Some(process) => Plan { process },
        None => Plan::usual(machine::memory()),
    }
}

/// How memory is divided, the account of all operations, and the part of it for clients that have not asked anything yet.
pub(crate) fn accounts(config: &Config) -> (Plan, Account, Account) {
    let plan = plan(config);
    let memory = Account::new(plan.operations());
    mongo::take_patterns_from(&memory);
    let strangers = memory.part(plan.strangers());
    (plan, memory, strangers)
}
