//! The addresses from which a user may log in (`authenticationRestrictions`): addresses of the
//! client and of the server, each one address or a range in CIDR notation.
//!
//! ```text
//! [{clientSource: ["10.0.0.0/8", "::1"], serverAddress: ["10.0.0.7"]}, ..]
//! an entry admits:  any of clientSource and any of serverAddress, if given
//! a list admits:    what any entry admits; everything if it is empty
//! ```

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use document::{ArrayRef, DocRef, Document, Value, ValueRef};

use crate::{
    arguments::Args,
    errors::{BadValue, Error, FailedToParse, Result, TypeMismatch},
    limits::{MAX_RESTRICTIONS, SHOWN_BYTES},
};

/// An IP address or an address range with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IpNet {
    address: IpAddr,
    /// Length of the prefix in bits.
    bits: u32,
}

/// Returns the number of bits of an address.
fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { Ipv4Addr::BITS } else { Ipv6Addr::BITS }
}

/// Returns the bits of an address, left-aligned.
fn upper_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << (Ipv6Addr::BITS - Ipv4Addr::BITS),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl IpNet {
    /// Returns whether the range contains an address. IPv4-mapped IPv6 addresses count as IPv4.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_ipv4() != self.address.is_ipv4() {
            return false;
        }
        let different = upper_bits(address) ^ upper_bits(self.address);
        different.leading_zeros() >= self.bits
    }
}

impl FromStr for IpNet {
    type Err = ();

    /// Parses `10.0.0.7`, `10.0.0.0/8` and the IPv6 equivalents.
    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
        let given: IpAddr = address.parse().map_err(|_| ())?;
        let bits = match bits {
            None => width(given),
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
                digits.parse().map_err(|_| ())?
            }
            Some(_) => return Err(()),
        };
        if width(given) < bits {
            return Err(());
        }
        // An IPv4 range written as IPv4-mapped IPv6 is stored without the 96 bits of the mapping.
        let address = given.to_canonical();
        match bits.checked_sub(width(given) - width(address)) {
            Some(bits) => Ok(Self { address, bits }),
            None => Ok(Self { address: given, bits }),
        }
    }
}

impl fmt::Display for IpNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, bits } = self;
        if *bits == width(*address) {
            write!(f, "{address}")
        } else {
            write!(f, "{address}/{bits}")
        }
    }
}

/// One entry of `authenticationRestrictions`. An empty list does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restriction {
    /// Allowed addresses of the client.
    pub(crate) client_source: Vec<IpNet>,
    /// Allowed addresses of the server that the client connected to.
    pub(crate) server_address: Vec<IpNet>,
}

const CLIENT_SOURCE: &str = "clientSource";
const SERVER_ADDRESS: &str = "serverAddress";

impl Restriction {
    /// Reads `{clientSource: [..], serverAddress: [..]}`. Fails with 2 if it has no addresses or
    /// too many, 9 if an address is invalid, and 14 or 40415 if a field has a wrong type or is
    /// unknown.
    pub(crate) fn parse(document: DocRef<'_>) -> Result<Self> {
        let args = Args::new("authenticationRestrictions", document);
        args.allow_only(&[CLIENT_SOURCE, SERVER_ADDRESS])?;
        let restriction = Self {
            client_source: addresses(&args, CLIENT_SOURCE)?,
            server_address: addresses(&args, SERVER_ADDRESS)?,
        };
        if restriction == Self::default() {
            return Err(Error::new(BadValue, "an authentication restriction must name addresses"));
        }
        Ok(restriction)
    }

    /// Reads an array of restrictions. Fails with 2 if there are too many, and with 14 if one is
    /// not a document.
    pub(crate) fn parse_list(array: ArrayRef<'_>) -> Result<Vec<Self>> {
        let mut list = Vec::new();
        for (at, value) in array.iter().enumerate() {
            let Some(document) = value.as_document() else {
                let message = format!(
                    "BSON field 'authenticationRestrictions.{at}' is the wrong type '{}', \
                     expected type 'object'",
                    value.kind().name()
                );
                return Err(Error::new(TypeMismatch, message));
            };
            if MAX_RESTRICTIONS <= list.len() {
                return Err(too_many("authenticationRestrictions"));
            }
            list.push(Self::parse(document)?);
        }
        Ok(list)
    }

    /// Returns the restriction in the form that `parse` reads.
    pub(crate) fn to_document(&self) -> Document {
        let mut document = Document::new();
        for (name, list) in
            [(CLIENT_SOURCE, &self.client_source), (SERVER_ADDRESS, &self.server_address)]
        {
            if !list.is_empty() {
                let texts = list.iter().map(|net| Value::from(net.to_string())).collect::<Vec<_>>();
                document.push(name, texts);
            }
        }
        document
    }

    /// Returns restrictions in the form that `parse_list` reads.
    pub(crate) fn list_to_value(list: &[Self]) -> Value {
        Value::from(list.iter().map(Self::to_document).collect::<Vec<_>>())
    }

    /// Returns whether the restriction admits a client address and the server address that the
    /// client connected to.
    pub(crate) fn admits(&self, client: IpAddr, server: IpAddr) -> bool {
        let is_in = |list: &[IpNet], address| {
            list.is_empty() || list.iter().any(|net| net.contains(address))
        };
        is_in(&self.client_source, client) && is_in(&self.server_address, server)
    }

    /// Returns whether any entry of the list admits the client, or the list is empty.
    pub(crate) fn list_admits(list: &[Self], client: IpAddr, server: IpAddr) -> bool {
        list.is_empty() || list.iter().any(|entry| entry.admits(client, server))
    }
}

fn too_many(name: &str) -> Error {
    Error::new(BadValue, format!("{name} has more than {MAX_RESTRICTIONS} entries"))
}

/// Reads a list of addresses. A missing list is empty. A list that is present but empty is refused
/// (2), since it could mean all addresses or none.
fn addresses(args: &Args<'_>, name: &str) -> Result<Vec<IpNet>> {
    let Some(array) = args.array(name)? else { return Ok(Vec::new()) };
    let mut list = Vec::new();
    for (at, value) in array.iter().enumerate() {
        let ValueRef::String(text) = value else {
            return Err(args.wrong_type(&format!("{name}.{at}"), value, " 'string'"));
        };
        if MAX_RESTRICTIONS <= list.len() {
            return Err(too_many(name));
        }
        let net = text.parse().map_err(|()| {
            let shown: String = text.chars().take(SHOWN_BYTES).collect();
            Error::new(FailedToParse, format!("'{shown}' is neither an address nor a CIDR range"))
        })?;
        list.push(net);
    }
    if list.is_empty() {
        return Err(Error::new(BadValue, format!("{name} must not be empty")));
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use document::{array, doc};

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn parse(document: &Document) -> Result<Restriction> {
        Restriction::parse(DocRef::Tree(document))
    }

    #[test]
    fn ranges_contain_addresses() {
        for (net, address, expected) in [
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.4", false),
            ("10.1.2.3", "::ffff:10.1.2.3", true),
            ("10.1.2.3/8", "10.255.0.0", true),
            ("10.1.2.3/8", "11.1.2.3", false),
            ("10.1.2.0/25", "10.1.2.127", true),
            ("10.1.2.0/25", "10.1.2.128", false),
            ("0.0.0.0/0", "255.255.255.255", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "::1", true),
            ("::/0", "1.2.3.4", false),
            ("::1", "::1", true),
            ("fe80::/10", "febf::1", true),
            ("fe80::/10", "fec0::1", false),
            ("::ffff:10.0.0.0/104", "10.9.9.9", true),
            ("::ffff:10.0.0.0/104", "11.9.9.9", false),
        ] {
            let parsed: IpNet = net.parse().unwrap();
            assert_eq!(parsed.contains(ip(address)), expected, "{net} {address}");
            assert_eq!(parsed.to_string().parse(), Ok(parsed), "{net}");
        }
        for text in [
            "",
            "/",
            "10.0.0",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/+8",
            "10.0.0.0/8/8",
            " 10.0.0.1",
            "host",
            "10.0.0.0/99999999999",
        ] {
            assert_eq!(text.parse::<IpNet>(), Err(()), "{text}");
        }
    }

    #[test]
    fn an_entry_admits_whoever_meets_both_lists() {
        let both = doc! { "clientSource": array!["10.0.0.0/8", "::1"], "serverAddress": array!["1.1.1.1"] };
        let client = doc! { "clientSource": array!["10.0.0.0/8"] };
        let server = doc! { "serverAddress": array!["2.2.2.2"] };
        for (document, from, to, expected) in [
            (&both, "10.1.1.1", "1.1.1.1", true),
            (&both, "::1", "1.1.1.1", true),
            (&both, "10.1.1.1", "2.2.2.2", false),
            (&both, "9.1.1.1", "1.1.1.1", false),
            (&client, "10.1.1.1", "2.2.2.2", true),
            (&client, "9.1.1.1", "2.2.2.2", false),
            (&server, "9.1.1.1", "2.2.2.2", true),
            (&server, "9.1.1.1", "2.2.2.3", false),
        ] {
            let restriction = parse(document).unwrap();
            assert_eq!(restriction.admits(ip(from), ip(to)), expected, "{document:?} {from} {to}");
            assert_eq!(parse(&restriction.to_document()).unwrap(), restriction);
        }
        let list = [parse(&both).unwrap(), parse(&server).unwrap()];
        assert!(Restriction::list_admits(&[], ip("9.9.9.9"), ip("9.9.9.9")));
        assert!(Restriction::list_admits(&list, ip("9.9.9.9"), ip("2.2.2.2")));
        assert!(!Restriction::list_admits(&list, ip("9.9.9.9"), ip("1.1.1.1")));
        let value = Restriction::list_to_value(&list);
        assert_eq!(Restriction::parse_list(value.as_ref().as_array().unwrap()).unwrap(), list);
    }

    #[test]
    fn wrong_restrictions_are_refused() {
        let many = Value::Array(vec!["::1".into(); MAX_RESTRICTIONS + 1]);
        for (document, code) in [
            (doc! {}, BadValue),
            (doc! { "clientSource": array![] }, BadValue),
            (doc! { "clientSource": many }, BadValue),
            (doc! { "clientSource": array!["x"] }, FailedToParse),
            (doc! { "clientSource": array![1] }, TypeMismatch),
            (doc! { "clientSource": "::1" }, TypeMismatch),
            (doc! { "clientSource": array!["::1"], "more": 1 }, 40415),
        ] {
            assert_eq!(parse(&document).unwrap_err().code, code, "{document:?}");
        }
        let entry = Value::from(doc! { "clientSource": array!["::1"] });
        for (value, code) in
            [(array![1], TypeMismatch), (Value::Array(vec![entry; MAX_RESTRICTIONS + 1]), BadValue)]
        {
            let error = Restriction::parse_list(value.as_ref().as_array().unwrap()).unwrap_err();
            assert_eq!(error.code, code);
        }
    }
}
