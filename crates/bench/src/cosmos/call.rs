//! A request, and its encoding with the headers that the Python SDK sends. With fewer headers a
//! server would have to parse less than for that SDK, and its figures would be too good.

use std::io::Write;

use fastrand::Rng;

use super::{date::Date, key::Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    /// Returns the method in the request line.
    fn method_name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }

    /// Returns the method in the signature, in lower case.
    pub(crate) fn signed_name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Delete => "delete",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) verb: Verb,
    /// Resource type in the signature: `dbs`, `colls`, `docs`.
    pub(crate) kind: &'static str,
    /// The SDK's name of the operation, which a header of the request contains.
    pub(crate) operation: &'static str,
    /// Link in the signature: the link of the resource or, for a list, of the parent of the listed
    /// resources.
    pub(crate) link: &'a str,
    /// Suffix of `link` in the request path, such as `/docs`; may be empty.
    pub(crate) under: &'static str,
    pub(crate) headers: &'a [(&'static str, &'a str)],
    pub(crate) body: &'a [u8],
}

impl Call<'_> {
    /// The request that reads the account.
    pub(crate) const ROOT: Call<'static> = Call {
        verb: Verb::Get,
        kind: "",
        operation: "Read",
        link: "",
        under: "",
        headers: &[],
        body: b"",
    };
}

/// Common parts of a connection's requests, mostly preformatted.
#[derive(Debug)]
pub(crate) struct Envelope {
    key: Key,
    /// Headers that are the same in each request.
    fixed: String,
    /// Id of a request without its last eight digits.
    activity: String,
    /// Number of requests so far, which is the last eight digits of a request's id.
    serial: u32,
}

impl Envelope {
    /// Creates the envelope for a server with this authority and a random client id.
    pub(crate) fn new(authority: &str, key: Key, rng: &mut Rng) -> Self {
        let fixed = format!(
            "host: {authority}\r\n\
             user-agent: ebb-bench/{}\r\n\
             accept: application/json\r\n\
             connection: keep-alive\r\n\
             cache-control: no-cache\r\n\
             x-ms-version: 2020-07-15\r\n\
             x-ms-consistency-level: Session\r\n\
             x-ms-cosmos-sdk-supportedcapabilities: 1\r\n\
             x-ms-documentdb-query-iscontinuationexpected: False\r\n\
             x-ms-client-id: {}\r\n",
            env!("CARGO_PKG_VERSION"),
            random_uuid(rng),
        );
        // The end of the id counts requests.
        let activity = random_uuid(rng)[..28].to_owned();
        Self { key, fixed, activity, serial: 0 }
    }

    /// Encodes a request into `out`, replacing the buffer's content. The signature covers verb,
    /// type, link and date.
    pub(crate) fn encode_request(&mut self, call: &Call<'_>, date: &Date, out: &mut Vec<u8>) {
        out.clear();
        self.serial = self.serial.wrapping_add(1);
        let put = |out: &mut Vec<u8>, parts: &[&str]| {
            parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        };
        let path = [call.verb.method_name(), " /", call.link, call.under, " HTTP/1.1\r\n"];
        put(out, &path);
        put(out, &[&self.fixed, "authorization: "]);
        self.key.sign_request(call.verb.signed_name(), call.kind, call.link, &date.signed, out);
        put(out, &["\r\nx-ms-date: ", &date.header, "\r\nx-ms-activity-id: ", &self.activity]);
        // Writing to memory cannot fail.
        let _ = write!(out, "{:08x}", self.serial);
        let resource = if call.kind.is_empty() { "databaseaccount" } else { call.kind };
        put(out, &["\r\nx-ms-thinclient-proxy-operation-type: ", call.operation]);
        put(out, &["\r\nx-ms-thinclient-proxy-resource-type: ", resource, "\r\n"]);
        for (name, value) in call.headers {
            put(out, &[name, ": ", value, "\r\n"]);
        }
        if call.verb == Verb::Post {
            let _ = write!(out, "content-length: {}\r\n", call.body.len());
        }
        put(out, &["\r\n"]);
        out.extend_from_slice(call.body);
    }
}

/// Returns a random UUID, version 4.
pub(crate) fn random_uuid(rng: &mut Rng) -> String {
    let bits = rng.u128(..) & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let digits = format!("{bits:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosmos::key::EMULATOR;

    #[test]
    fn requests() {
        let rng = &mut Rng::with_seed(1);
        let mut envelope = Envelope::new("h:1", EMULATOR.parse().unwrap(), rng);
        let date = Date::from_ms(951_782_400_000);
        let read = Call {
            kind: "docs",
            link: "dbs/Db/colls/C/docs/1",
            under: "/",
            headers: &[("x-ms-documentdb-partitionkey", "[\"a\"]")],
            ..Call::ROOT
        };
        let write = Call {
            verb: Verb::Post,
            operation: "Upsert",
            link: "dbs/Db/colls/C",
            under: "/docs/",
            body: b"{}",
            ..read
        };
        for (call, first, has, end) in [
            (read, "GET /dbs/Db/colls/C/docs/1/ HTTP/1.1", "-resource-type: docs\r\n", "\r\n\r\n"),
            (write, "POST /dbs/Db/colls/C/docs/ HTTP/1.1", "content-length: 2\r\n", "\r\n\r\n{}"),
            (write, "POST /dbs/Db/colls/C/docs/ HTTP/1.1", SIGNATURE, "\r\n\r\n{}"),
            (read, "GET ", "x-ms-documentdb-partitionkey: [\"a\"]\r\n", "\r\n\r\n"),
            (read, "GET ", "x-ms-date: Tue, 29 Feb 2000 00:00:00 GMT\r\n", "\r\n\r\n"),
            (Call::ROOT, "GET / HTTP/1.1", "-resource-type: databaseaccount\r\n", "\r\n\r\n"),
        ] {
            let mut out = b"what was there".to_vec();
            envelope.encode_request(&call, &date, &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(text.starts_with(first), "{text}");
            assert!(text.contains(has), "{has}: {text}");
            assert!(text.ends_with(end), "{text}");
            assert_eq!(text.matches("host: h:1\r\n").count(), 1, "{text}");
        }
    }

    const SIGNATURE: &str = "authorization: type%3Dmaster%26ver%3D1.0%26sig%3DN38j8ZmHieoity8z1gDULZ1p2kc2ZLKcbY%2FcRjfAwAU%3D\r\n";

    #[test]
    fn each_request_has_an_activity_of_its_own() {
        let rng = &mut Rng::with_seed(1);
        let mut envelope = Envelope::new("h:1", EMULATOR.parse().unwrap(), rng);
        let mut activities = Vec::new();
        for _ in 0..2 {
            let mut out = Vec::new();
            envelope.encode_request(&Call::ROOT, &Date::from_ms(0), &mut out);
            let text = String::from_utf8(out).unwrap();
            let line = text.lines().find(|line| line.starts_with("x-ms-activity-id: "));
            activities.push(line.unwrap().to_owned());
            assert_eq!(line.unwrap().len(), "x-ms-activity-id: ".len() + 36);
        }
        assert_ne!(activities[0], activities[1]);
    }

    #[test]
    fn ids_are_of_version_four() {
        let mut rng = Rng::with_seed(7);
        for _ in 0..20 {
            let id = random_uuid(&mut rng);
            assert_eq!((id.len(), id.matches('-').count(), &id[14..15]), (36, 4, "4"), "{id}");
            assert!("89ab".contains(&id[19..20]), "{id}");
        }
    }
}
