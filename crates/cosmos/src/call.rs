//! One request as routes see it: what it is about, what its headers say, and what its sender may
//! do.

use std::{borrow::Cow, sync::Arc};

use auth::{Authorization, Credential, Denied, Right, Scope, Signed, TokenMode, check_entra};
use engine::Store;
use http::{Method, request::Parts};

use crate::{
    door::Door,
    failure::{Failure, Fault, Result},
    headers::Headers,
    link::{Link, Resource},
    operation::Client,
    partition_key::Component,
    session,
};

/// What the sender of a request may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    Owner,
    Reader,
    Token(Scope),
}

/// A request without its body.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) verb: &'a Method,
    pub(crate) link: Link<'a>,
    pub(crate) headers: Headers<'a>,
    pub(crate) scheme: &'static str,
    /// The newest commit that its session has seen.
    pub(crate) seen: u64,
    /// Whom it is answered for.
    pub(crate) client: Arc<Client>,
}

impl<'a> Call<'a> {
    /// Reads a request and checks that its sender may ask for it.
    pub(crate) fn new<S: Store>(
        door: &Door<S>,
        parts: &'a Parts,
        scheme: &'static str,
        client: Arc<Client>,
    ) -> Result<Self> {
        let link = Link::parse(parts.uri.path())?;
        let headers = Headers::read(&parts.headers)?;
        if let Some(encoding) = headers.content_encoding.map(str::trim)
            && !encoding.is_empty()
            && !encoding.eq_ignore_ascii_case("identity")
        {
            let text = format!("The content encoding '{encoding}' is not supported.");
            return Err(Failure::new(Fault::UnsupportedMediaType, text));
        }
        let mut call = Self { verb: &parts.method, link, headers, scheme, seen: 0, client };
        if call.link.kind != Resource::Certificate {
            let grant = call.grant(door)?;
            call.check(&grant)?;
        }
        call.seen = session::parse(call.headers.session)?;
        Ok(call)
    }

    /// Whose request it is.
    fn grant<S: Store>(&self, door: &Door<S>) -> Result<Grant> {
        let now_ms = clock::wall_ms();
        let header = self.headers.authorization.ok_or(Denied::Missing)?;
        let authorization = Authorization::parse(header)?;
        let keys = &door.settings.keys;
        let right = match authorization.credential() {
            Credential::Resource => {
                let now_s = now_ms.div_euclid(1000);
                return Ok(Grant::Token(Scope::check(&door.secret, &authorization, now_s)?));
            }
            Credential::Entra => check_entra(keys, &authorization, now_ms)?,
            Credential::Master => {
                let forms = self.link.signed();
                let links: Vec<&str> = forms.iter().flatten().map(AsRef::as_ref).collect();
                let signed = |kind| Signed {
                    verb: self.verb.as_str(),
                    kind,
                    links: &links,
                    ms_date: self.headers.ms_date,
                    date: self.headers.date,
                };
                let kind = self.link.kind;
                let checked = signed(kind.word()).check(keys, &authorization, now_ms);
                match checked {
                    // Some clients sign this one as if it were the container's.
                    Err(Denied::Signature) if kind == Resource::PartitionKey => {
                        let word = Resource::Containers.word();
                        signed(word).check(keys, &authorization, now_ms)?
                    }
                    checked => checked?,
                }
            }
        };
        Ok(match right {
            Right::Write => Grant::Owner,
            Right::Read => Grant::Reader,
        })
    }

    /// Whether it changes nothing.
    pub(crate) fn only_reads(&self) -> bool {
        match self.verb.as_str() {
            "GET" | "HEAD" => true,
            // Whatever its headers say.
            "POST" if self.link.kind == Resource::PartitionKey => false,
            "POST" => (self.headers.is_plan || self.headers.asks()) && !self.headers.is_batch,
            _ => false,
        }
    }

    fn check(&self, grant: &Grant) -> Result<()> {
        let forbidden = |text: &'static str| Err(Failure::new(Fault::Forbidden, text));
        match grant {
            Grant::Owner => Ok(()),
            // Who reads a permission gets a token, which may be for more than reading.
            Grant::Reader | Grant::Token(_) if self.link.kind == Resource::Permissions => {
                forbidden("Permissions are for the account's keys that may do everything.")
            }
            Grant::Reader if self.only_reads() => Ok(()),
            Grant::Reader => forbidden("The key that was used may only read."),
            // Every token may ask where the account is.
            Grant::Token(_) if self.link.kind == Resource::Account => Ok(()),
            Grant::Token(scope) if scope.mode == TokenMode::Read && !self.only_reads() => {
                forbidden("The token that was used may only read.")
            }
            Grant::Token(scope) if !self.is_within(&scope.resource) => {
                forbidden("The token that was used is for another resource.")
            }
            Grant::Token(scope) => match (&scope.partition, self.headers.partition_key) {
                (None, _) => Ok(()),
                (Some(wanted), Some(given)) if is_same_key(wanted, given) => Ok(()),
                _ => forbidden("The token that was used is for another partition key."),
            },
        }
    }

    /// Whether what it is about is this resource, or lies in it.
    fn is_within(&self, resource: &str) -> bool {
        let own = self.path();
        own.strip_prefix(resource).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The link in the form that permissions have.
    fn path(&self) -> String {
        let [database, owner] = &self.link.owners;
        let mut path = String::new();
        let mut push = |word: &str, name: Option<&Cow<'_, str>>| {
            for part in std::iter::once(word).chain(name.map(AsRef::as_ref)) {
                if !path.is_empty() {
                    path.push('/');
                }
                path.push_str(part);
            }
        };
        if !database.is_empty() {
            push("dbs", Some(database));
        }
        if !owner.is_empty() {
            let users = self.link.kind == Resource::Permissions;
            push(if users { "users" } else { "colls" }, Some(owner));
        }
        push(self.link.kind.word(), self.link.name.as_ref());
        path
    }
}

/// Whether two headers name the same partition key.
fn is_same_key(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(Component::parse_all);
    one.is_some() && one == other
}
