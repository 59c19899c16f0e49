//! Identifies the sender of a request and checks its rights. This runs after parsing and before any
//! body is read, so that unauthenticated clients cannot make the server allocate memory.
//!
//! There are four kinds of *principals*: the holder of a full account key, of a read-only account
//! key, of a permission's token, or of an Entra token with roles (`roles`). A token signed by an
//! account key permits no more than that key. The operation's row in the table of operations states
//! the required right (`Requirement`). Apart from it, only the resource path and the partition key
//! of the request are compared with a token.

use std::fmt;

use auth::{Authorization, Credential, Denied, Right, Signers, StringToSign, Token, check_entra};

use crate::{
    api::NoSqlApi,
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

/// The identity of a request's sender, by which its rights are determined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Principal {
    /// Holder of a full account key.
    Owner,
    /// Holder of a read-only account key.
    Reader,
    /// Holder of the token of a permission.
    Token(Permission),
    /// Holder of an Entra token, identified by name.
    Named {
        /// The token's `oid` or `sub`.
        name: String,
        /// The right of the account key that signed the token; `None` for a token of an identity
        /// service.
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

/// Refuses a request whose sender is unknown or lacks the right. Stores the principal in `who` as
/// soon as it is identified.
pub(crate) fn authorize(
    api: &NoSqlApi,
    request: &mut Request,
    sender: Sender,
    who: &mut Option<Principal>,
) -> Result<()> {
    if request.operation.row().requirement == Requirement::Nothing {
        return Ok(());
    }
    let principal = match sender {
        Sender::Signs | Sender::Forwarded => identify_sender(api, request)?,
        Sender::Known(right) => right.into(),
    };
    let principal = who.insert(principal);
    check_requirement(principal, api, request)?;
    if request.operation == Operation::ChangeFeed {
        request.may_write = may_write_items(principal, api, request);
    }
    // The header that permits truncated values in items has an effect only for the portal, which
    // reads a truncated item again before it shows or writes the item. Other clients would write
    // the truncated values back.
    if matches!(sender, Sender::Known(_)) {
        request.cuts = request.headers.may_cut()?;
    }
    Ok(())
}

/// Returns whether the sender of a read request may also create items in the container that the
/// request reads.
fn may_write_items(principal: &Principal, api: &NoSqlApi, request: &Request) -> bool {
    match principal {
        Principal::Owner => true,
        Principal::Reader | Principal::Named { signer: Some(Right::Read), .. } => false,
        Principal::Token(permission) => permission.writes,
        Principal::Named { name, .. } => {
            let asked = ResourcePath::of_link(&request.link);
            let asked = asked.resolve_names(&api.engine, &api.containers);
            check_roles(&api.settings.tokens.load(), name, Operation::CreateItem, asked).is_ok()
        }
    }
}

/// Identifies the sender by the request's signature or token.
fn identify_sender(api: &NoSqlApi, request: &Request) -> Result<Principal> {
    let now_ms = clock::wall_ms();
    let header = request.headers.authorization().ok_or(Denied::Missing)?;
    let authorization = Authorization::parse(header)?;
    let keys = &*api.settings.keys.load();
    let denied = |denied| count_guess(api, request, denied);
    let right = match authorization.credential() {
        Credential::Resource => {
            let now_s = now_ms.div_euclid(1000);
            let token = Token::check(&api.secret, &authorization, now_s).map_err(denied)?;
            return Ok(Principal::Token(Permission::of_token(&api.engine, &token)?));
        }
        Credential::Entra => {
            let rules = api.settings.tokens.load();
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
        Credential::Master => check_signature(api, request, &authorization, now_ms)?,
    };
    Ok(right.into())
}

/// Returns the failure for an Entra token that names no principal.
fn nobody() -> Failure {
    let text = "The token has neither an oid nor a sub claim to assign a role to.";
    Failure::new(Fault::Unauthorized, text)
}

/// Checks an account key's signature over method, kind, link and date.
fn check_signature(
    api: &NoSqlApi,
    request: &Request,
    authorization: &Authorization<'_>,
    now_ms: i64,
) -> Result<Right> {
    let keys = &*api.settings.keys.load();
    let forms = request.link.signed_forms();
    let links: Vec<&str> = forms.iter().flatten().map(AsRef::as_ref).collect();
    let signed = |kind| StringToSign {
        verb: request.method.as_str(),
        kind,
        links: &links,
        ms_date: request.headers.ms_date(),
        date: request.headers.date(),
    };
    let kind = request.link.kind;
    let checked = match signed(request.link.signed_word()).check(keys, authorization, now_ms) {
        // Some SDKs sign this operation with the container's kind.
        Err(Denied::Signature) if kind == Resource::PartitionKey => {
            signed(Resource::Containers.path_word()).check(keys, authorization, now_ms)
        }
        checked => checked,
    };
    checked.map_err(|denied| count_guess(api, request, denied))
}

/// Returns the failure for a refused credential. Wrong signatures are counted by client address;
/// above a limit the address gets 429 until its window of one minute has ended. Nothing is counted
/// while the emulators' public key is in use, since that key need not be guessed.
fn count_guess(api: &NoSqlApi, request: &Request, denied: Denied) -> Failure {
    let counts = denied == Denied::Signature && !api.settings.keys.load().are_well_known();
    let wait = match counts {
        true => api.guesses.record_wrong_key(request.client.peer(), clock::monotonic_time()),
        false => None,
    };
    wait.map_or_else(|| denied.into(), Failure::too_many_guesses)
}

/// Refuses a request that the principal may not make. If several checks fail, the first one
/// determines the text of the failure.
fn check_requirement(principal: &Principal, api: &NoSqlApi, request: &Request) -> Result<()> {
    let row = request.operation.row();
    match principal {
        Principal::Owner => Ok(()),
        Principal::Named { name, signer } => {
            let asked = ResourcePath::of_link(&request.link);
            let asked = asked.resolve_names(&api.engine, &api.containers);
            check_roles(&api.settings.tokens.load(), name, request.operation, asked)?;
            match signer {
                // Roles do not extend the rights of the key that signed the token.
                Some(Right::Read) if row.access == Access::Writes => {
                    forbidden("The token is signed with a read-only key.")
                }
                _ => Ok(()),
            }
        }
        _ if row.requirement == Requirement::WriteKey => {
            forbidden("Permissions require a read-write key of the account.")
        }
        Principal::Reader if row.access == Access::Reads => Ok(()),
        Principal::Reader => forbidden("The key is read-only."),
        // Every token may read the account document: SDKs do so first.
        Principal::Token(_) if row.requirement == Requirement::AnyCredential => Ok(()),
        Principal::Token(permission) => check_permission(permission, api, request),
    }
}

/// Refuses a request that a permission does not cover.
fn check_permission(permission: &Permission, api: &NoSqlApi, request: &Request) -> Result<()> {
    let row = request.operation.row();
    if !permission.writes && row.access == Access::Writes {
        return forbidden("The token is read-only.");
    }
    // Permission and request may each identify database and container by resource ids instead of
    // names.
    let (engine, containers) = (&api.engine, &api.containers);
    let allowed = permission.path.clone().resolve_names(engine, containers);
    let asked = ResourcePath::of_link(&request.link).resolve_names(engine, containers);
    if row.access == Access::Reads && allowed.is_item_of(&asked) {
        return Ok(());
    }
    if !allowed.contains(&asked) {
        return forbidden("The token is for another resource.");
    }
    let Some(partition) = &permission.partition else {
        return match allowed.needs_partition(engine, containers) {
            true => forbidden("The token's permission has no partition key."),
            false => Ok(()),
        };
    };
    match row.requirement {
        Requirement::Container if row.access == Access::Reads => Ok(()),
        Requirement::Partition => {
            let given = request.headers.partition_key().and_then(Component::parse_all);
            match given.as_ref() == Some(partition) {
                true => Ok(()),
                false => forbidden("The token is for another partition key."),
            }
        }
        _ => forbidden("The token covers only the items of one partition key."),
    }
}

/// Returns the failure for a known sender who lacks the right.
fn forbidden(text: &'static str) -> Result<()> {
    Err(Failure::new(Fault::Forbidden, text))
}
