//! What the sender of a request may do, and whether the request is within it. Who the sender is,
//! is found out before.

use auth::Right;
use engine::Store;

use crate::{
    call::Call,
    door::Door,
    failure::{Failure, Fault, Result},
    link::Resource,
    partition_key::Component,
    permission::Permission,
    place::Place,
};

/// What the sender of a request may do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Grant {
    Owner,
    Reader,
    Token(Permission),
}

impl Grant {
    /// What the holder of one of the account's keys may do.
    pub(crate) fn of(right: Right) -> Self {
        match right {
            Right::Write => Self::Owner,
            Right::Read => Self::Reader,
        }
    }

    /// Refuses a request that is not within it.
    pub(crate) fn check<S: Store>(&self, door: &Door<S>, call: &Call<'_>) -> Result<()> {
        match self {
            Self::Owner => Ok(()),
            // Who reads a permission gets a token, which may be for more than reading.
            _ if call.link.kind == Resource::Permissions => {
                forbidden("Permissions are for the account's keys that may do everything.")
            }
            Self::Reader if call.only_reads() => Ok(()),
            Self::Reader => forbidden("The key that was used may only read."),
            // Every token may ask where the account is.
            Self::Token(_) if call.link.kind == Resource::Account => Ok(()),
            Self::Token(permission) => within(permission, door, call),
        }
    }
}

fn within<S: Store>(permission: &Permission, door: &Door<S>, call: &Call<'_>) -> Result<()> {
    if !permission.writes && !call.only_reads() {
        return forbidden("The token that was used may only read.");
    }
    let [allowed, asked] =
        [permission.place.clone(), Place::of(&call.link)].map(|place| place.by_names(door));
    if !allowed.holds(&asked) {
        return forbidden("The token that was used is for another resource.");
    }
    let Some(partition) = &permission.partition else {
        return match allowed.needs_partition(door) {
            true => forbidden("The permission of the token that was used has no partition key."),
            false => Ok(()),
        };
    };
    match call.link.kind {
        // Clients ask what a container is like before they ask for its items.
        Resource::Containers | Resource::Ranges if call.only_reads() => Ok(()),
        Resource::Documents | Resource::PartitionKey => {
            let given = call.headers.partition_key.and_then(Component::parse_all);
            match given.as_ref() == Some(partition) {
                true => Ok(()),
                false => forbidden("The token that was used is for another partition key."),
            }
        }
        _ => forbidden("The token that was used is for the items of one partition key."),
    }
}

fn forbidden(text: &'static str) -> Result<()> {
    Err(Failure::new(Fault::Forbidden, text))
}
