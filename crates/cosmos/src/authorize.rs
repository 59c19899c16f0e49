//! Who sends a request, and whether the sender may ask for it. It comes after parsing and before
//! any body is read, so that strangers cannot make the server hold anything.
//!
//! A sender is one of four *principals*: the holder of a key that may do everything, of a key that
//! only reads, of the token of a permission, or of an Entra token, whose roles say what it is for
//! (`roles`). A token that a key of the account signed permits no more than that key. The operation's row
//! says what is required (`Requirement`), and nothing else of the request does, except the resource path
//! and the partition key that a token is compared with.

use std::fmt;

use auth::{Authorization, Credential, Denied, Right, Signed, Signers, Token, check_entra};
use engine::Store;

use crate::{
    door::Door,
    failure::{Failure, Fault, Result},
    link::Resource,
    operation::{Access, Operation, Requirement},
    partition_key::Component,
    permission::Permission,
    request::Request,
    resource_path::ResourcePath,
    roles::check_roles,
    sender::Sender,
};

/// Who sends a request, as far as it matters for what the sender may do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Principal {
    /// Holds a key of the account that may do everything.
    Owner,
    /// Holds a key of the account that only reads.
    Reader,
    /// Holds the token of a permission.
    Token(Permission),
    /// Holds an Entra token with this name.
    Named {
        /// The token's `oid` or `sub`.
        name: String,
        /// The right of the account key that signed the token; `None` for a token of an identity service.
        signer: Option<Right>,
    },
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("key"),
            Self::Reader => f.write_str("read-only key"),
            Self::Token(permission) => write!(f, "permission for {}", permission.path),
            Self::Named { name, signer: None } => write!(f, "principal {name}"),
            Self::Named { name, signer: Some(right) } => {
                write!(f, "principal {name} by {}", Self::from(*right))
            }
        }
    }
}

impl From<Right> for Principal {
    fn from(right: Right) -> Self {
        match right {
            Right::Write => Self::Owner,
            Right::Read => Self::Reader,
        }
    }
}

/// Refuses a request whose sender is not known, or may not ask for it. `who` comes to be who it is, once
/// that is known.
pub(crate) fn authorize<S: Store>(
    door: &Door<S>,
    request: &mut Request,
    sender: Sender,
    who: &mut Option<Principal>,
) -> Result<()> {
    if request.operation.row().requirement == Requirement::Nothing {
        return Ok(());
    }
    let principal = match sender {
        Sender::Signs | Sender::Forwarded => identify_sender(door, request)?,
        Sender::Known(right) => right.into(),
    };
    let principal = who.insert(principal);
    check_requirement(principal, door, request)?;
    if request.operation == Operation::ChangeFeed {
        request.may_write = may_write_items(principal, door, request);
    }
    Ok(())
}

/// Returns whether the sender of a request may also create items where the request reads.
fn may_write_items<S: Store>(principal: &Principal, door: &Door<S>, request: &Request) -> bool {
    match principal {
        Principal::Owner => true,
        Principal::Reader | Principal::Named { signer: Some(Right::Read), .. } => false,
        Principal::Token(permission) => permission.writes,
        Principal::Named { name, .. } => {
            let asked = ResourcePath::of_link(&request.link);
            let asked = asked.resolve_names(&door.engine, &door.containers);
            check_roles(&door.settings.tokens.load(), name, Operation::CreateItem, asked).is_ok()
        }
    }
}

/// Finds out who has signed a request, or holds the token in it.
fn identify_sender<S: Store>(door: &Door<S>, request: &Request) -> Result<Principal> {
    let now_ms = clock::wall_ms();
    let header = request.headers.authorization().ok_or(Denied::Missing)?;
    let authorization = Authorization::parse(header)?;
    let keys = &*door.settings.keys.load();
    let denied = |denied| count_guess(door, request, denied);
    let right = match authorization.credential() {
        Credential::Resource => {
            let now_s = now_ms.div_euclid(1000);
            let token = Token::check(&door.secret, &authorization, now_s).map_err(denied)?;
            return Ok(Principal::Token(Permission::of_token(&door.engine, &token)?));
        }
        Credential::Entra => {
            let rules = door.settings.tokens.load();
            let signers = Signers {
                keys,
                emulator_tokens: rules.emulator_tokens,
                issuer: rules.issuer.as_ref(),
            };
            let bearer = check_entra(signers, &authorization, now_ms).map_err(denied)?;
            match (&rules.roles, bearer.right) {
                (None, Some(right)) => right,
                (_, signer) => {
                    let name = bearer.principal.ok_or_else(nobody)?;
                    return Ok(Principal::Named { name, signer });
                }
            }
        }
        Credential::Master => check_signature(door, request, &authorization, now_ms)?,
    };
    Ok(right.into())
}

/// The refusal of a token that names nobody.
fn nobody() -> Failure {
    let text =
        "The token names neither an object (oid) nor a subject (sub) that could have a role.";
    Failure::new(Fault::Unauthorized, text)
}

/// Checks the signature that a key of the account has made over method, kind, link and date.
fn check_signature<S: Store>(
    door: &Door<S>,
    request: &Request,
    authorization: &Authorization<'_>,
    now_ms: i64,
) -> Result<Right> {
    let keys = &*door.settings.keys.load();
    let forms = request.link.signed_forms();
    let links: Vec<&str> = forms.iter().flatten().map(AsRef::as_ref).collect();
    let signed = |kind| Signed {
        verb: request.method.as_str(),
        kind,
        links: &links,
        ms_date: request.headers.ms_date(),
        date: request.headers.date(),
    };
    let kind = request.link.kind;
    let checked = match signed(kind.path_word()).check(keys, authorization, now_ms) {
        // Some SDKs sign this operation as if it were the container's.
        Err(Denied::Signature) if kind == Resource::PartitionKey => {
            signed(Resource::Containers.path_word()).check(keys, authorization, now_ms)
        }
        checked => checked,
    };
    checked.map_err(|denied| count_guess(door, request, denied))
}

/// The failure for a refused credential. Wrong signatures are counted by the address that they come
/// from, and from a certain number on they are 429 until the minute is over. Nothing is counted where
/// everybody knows the key, because there is nothing to guess.
fn count_guess<S: Store>(door: &Door<S>, request: &Request, denied: Denied) -> Failure {
    let counts = denied == Denied::Signature && !door.settings.keys.load().are_well_known();
    let wait = match counts {
        true => door.guesses.note_wrong(request.client.peer(), clock::monotonic_time()),
        false => None,
    };
    wait.map_or_else(|| denied.into(), Failure::too_many_guesses)
}

/// Refuses a request that the principal may not make. The order of the checks decides which text a
/// client reads where several would refuse.
fn check_requirement<S: Store>(
    principal: &Principal,
    door: &Door<S>,
    request: &Request,
) -> Result<()> {
    let row = request.operation.row();
    match principal {
        Principal::Owner => Ok(()),
        Principal::Named { name, signer } => {
            let asked = ResourcePath::of_link(&request.link);
            let asked = asked.resolve_names(&door.engine, &door.containers);
            check_roles(&door.settings.tokens.load(), name, request.operation, asked)?;
            match signer {
                // What only the holder of a full key may do, no role permits either.
                Some(Right::Read) if row.access == Access::Writes => {
                    forbidden("The key that signed the token may only read.")
                }
                _ => Ok(()),
            }
        }
        _ if row.requirement == Requirement::WriteKey => {
            forbidden("Permissions are for the account's keys that may do everything.")
        }
        Principal::Reader if row.access == Access::Reads => Ok(()),
        Principal::Reader => forbidden("The key that was used may only read."),
        // Every token may ask where the account is: SDKs do so before anything else.
        Principal::Token(_) if row.requirement == Requirement::AnyCredential => Ok(()),
        Principal::Token(permission) => check_permission(permission, door, request),
    }
}

/// Refuses a request that a permission does not cover.
fn check_permission<S: Store>(
    permission: &Permission,
    door: &Door<S>,
    request: &Request,
) -> Result<()> {
    let row = request.operation.row();
    if !permission.writes && row.access == Access::Writes {
        return forbidden("The token that was used may only read.");
    }
    // Both may name database and container by resource ids instead of names.
    let (engine, containers) = (&door.engine, &door.containers);
    let allowed = permission.path.clone().resolve_names(engine, containers);
    let asked = ResourcePath::of_link(&request.link).resolve_names(engine, containers);
    if row.access == Access::Reads && allowed.is_item_of(&asked) {
        return Ok(());
    }
    if !allowed.contains(&asked) {
        return forbidden("The token that was used is for another resource.");
    }
    let Some(partition) = &permission.partition else {
        return match allowed.needs_partition(engine, containers) {
            true => forbidden("The permission of the token that was used has no partition key."),
            false => Ok(()),
        };
    };
    match row.requirement {
        Requirement::Container if row.access == Access::Reads => Ok(()),
        Requirement::Partition => {
            let given = request.headers.partition_key().and_then(Component::parse_all);
            match given.as_ref() == Some(partition) {
                true => Ok(()),
                false => forbidden("The token that was used is for another partition key."),
            }
        }
        _ => forbidden("The token that was used is for the items of one partition key."),
    }
}

/// The refusal of a sender who is known. The text says what to do about it.
fn forbidden(text: &'static str) -> Result<()> {
    Err(Failure::new(Fault::Forbidden, text))
}
