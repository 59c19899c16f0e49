//! Access control: users, roles and privileges as values, with MongoDB's rules and formats. Storage
//! (`users`), logins (`login`) and the checks of commands (`authorize`) use these types.
//!
//! ```text
//! User ── roles ──► RoleName ──► built-in table ─┐
//!                       └──────► Role (stored) ──┴─ expand ──► Privileges ── allows(Action, Target)
//! ```

pub(crate) mod action;
pub(crate) mod builtin;
pub(crate) mod credentials;
pub(crate) mod password;
pub(crate) mod privilege;
pub(crate) mod resource;
pub(crate) mod restriction;
pub(crate) mod role;
pub(crate) mod role_name;
pub(crate) mod roles_of;
pub(crate) mod user;

pub(crate) use action::{Action, Actions};
pub(crate) use credentials::{Credentials, StoredCredential};
pub(crate) use password::sha1_digest;
pub(crate) use privilege::Privileges;
pub(crate) use resource::Target;
pub(crate) use restriction::Restriction;
pub(crate) use role::{Inherited, Role};
pub(crate) use role_name::{RoleName, UserName};
pub(crate) use roles_of::{expand, would_cycle};
pub(crate) use user::{User, UserView};
