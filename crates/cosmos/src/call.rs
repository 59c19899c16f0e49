//! One request as routes see it: what it is about, what its headers say, and what its sender may
//! do.

use std::sync::Arc;

use auth::{Authorization, Credential, Denied, Signed, Token, check_entra};
use engine::Store;
use http::{Method, request::Parts};

use crate::{
    door::Door,
    failure::{Failure, Fault, Result},
    grant::Grant,
    headers::Headers,
    http::Sender,
    link::{Link, Resource},
    operation::Client,
    permission::Permission,
    session,
};

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
        link: Link<'a>,
        sender: Sender,
        scheme: &'static str,
        client: Arc<Client>,
    ) -> Result<Self> {
        let mut headers = Headers::read(&parts.headers)?;
        if let Some(encoding) = headers.content_encoding.map(str::trim)
            && !encoding.is_empty()
            && !encoding.eq_ignore_ascii_case("identity")
        {
            let text = format!("The content encoding '{encoding}' is not supported.");
            return Err(Failure::new(Fault::UnsupportedMediaType, text));
        }
        // HTTP/2 has no header for it.
        headers.host = headers.host.or(parts.uri.authority().map(|authority| authority.as_str()));
        let mut call = Self { verb: &parts.method, link, headers, scheme, seen: 0, client };
        if call.link.kind != Resource::Certificate {
            let grant = match sender {
                Sender::Signs => call.grant(door)?,
                Sender::Known(right) => Grant::of(right),
            };
            grant.check(door, &call)?;
        }
        call.seen = session::parse(call.headers.session)?;
        Ok(call)
    }

    /// A wrong signature is counted, and refused shorter where there were many. Nothing is guessed
    /// where everybody knows the key.
    fn refuse<S: Store>(&self, door: &Door<S>, denied: Denied) -> Failure {
        let counts = denied == Denied::Signature && !door.settings.keys.are_well_known();
        let wait = match counts {
            true => door.guesses.wrong(self.client.peer(), clock::monotonic()),
            false => None,
        };
        wait.map_or_else(|| denied.into(), Failure::too_many_guesses)
    }

    /// Whose request it is.
    fn grant<S: Store>(&self, door: &Door<S>) -> Result<Grant> {
        let now_ms = clock::wall_ms();
        let header = self.headers.authorization.ok_or(Denied::Missing)?;
        let authorization = Authorization::parse(header)?;
        let keys = &door.settings.keys;
        let refuse = |denied| self.refuse(door, denied);
        let right = match authorization.credential() {
            Credential::Resource => {
                let now_s = now_ms.div_euclid(1000);
                let token = Token::check(&door.secret, &authorization, now_s).map_err(refuse)?;
                return Ok(Grant::Token(Permission::of_token(&door.engine, &token)?));
            }
            Credential::Entra => check_entra(keys, &authorization, now_ms).map_err(refuse)?,
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
                        signed(word).check(keys, &authorization, now_ms).map_err(refuse)?
                    }
                    checked => checked.map_err(refuse)?,
                }
            }
        };
        Ok(Grant::of(right))
    }

    /// Whether it changes nothing.
    pub(crate) fn only_reads(&self) -> bool {
        match self.verb.as_str() {
            "GET" | "HEAD" => true,
            "POST" => self.asks(),
            _ => false,
        }
    }

    /// Whether it is a POST that only asks. Who may only read may send it, and so routes go by
    /// this and by nothing else.
    pub(crate) fn asks(&self) -> bool {
        let headers = &self.headers;
        let is_feed = *self.verb == Method::POST && self.link.name.is_none();
        is_feed
            && match self.link.kind {
                // In the order in which the headers count.
                Resource::Documents => headers.is_plan || (headers.asks() && !headers.is_batch),
                Resource::Databases
                | Resource::Containers
                | Resource::Offers
                | Resource::Users
                | Resource::Permissions
                | Resource::Procedures
                | Resource::Triggers
                | Resource::Udfs => headers.asks(),
                Resource::Conflicts => true,
                Resource::Account
                | Resource::Ranges
                | Resource::PartitionKey
                | Resource::Addresses
                | Resource::Certificate => false,
            }
    }
}
