//! The subject of a certificate as text, from which user names are derived: RFC 2253, the most
//! specific part first. The certificate has been verified by the handshake.
//!
//! ```text
//! O=y, OU=x, CN=ann  (order in the certificate)   =>   CN=ann,OU=x,O=y
//! ```

use x509_parser::{
    certificate::X509Certificate,
    prelude::FromDer,
    x509::{AttributeTypeAndValue, RelativeDistinguishedName},
};

/// Short names of attribute types: the types in RFC 2253, and e-mail addresses. All other types are
/// written as numeric OIDs.
const NAMES: &[(&str, &str)] = &[
    ("2.5.4.3", "CN"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "STREET"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("1.2.840.113549.1.9.1", "emailAddress"),
];

/// Characters that have to be escaped.
const SPECIAL: &[char] = &[',', '+', '"', '\\', '<', '>', ';'];

/// Returns the subject of a DER certificate; `None` if it is empty or unreadable.
pub(super) fn subject_of(certificate: &[u8]) -> Option<String> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let mut parts: Vec<_> = parsed.subject().iter_rdn().map(part_text).collect();
    parts.reverse();
    let text = parts.join(",");
    (!text.is_empty()).then_some(text)
}

/// Formats one part of a distinguished name, which may have several attributes.
fn part_text(part: &RelativeDistinguishedName<'_>) -> String {
    part.iter().map(attribute_text).collect::<Vec<_>>().join("+")
}

/// Formats an attribute as `CN=ann`. A value that is not a known string type is written as the hex
/// of its encoding.
fn attribute_text(attribute: &AttributeTypeAndValue<'_>) -> String {
    let kind = attribute.attr_type().to_id_string();
    let known = NAMES.iter().find(|(id, _)| *id == kind).map(|(_, name)| *name);
    let value = match attribute.as_str() {
        Ok(text) => escape(text),
        Err(_) => hex(attribute.as_slice()),
    };
    format!("{}={value}", known.unwrap_or(&kind))
}

fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let last = value.chars().count().saturating_sub(1);
    for (at, letter) in value.chars().enumerate() {
        match letter {
            // Control characters are written in hex, so that logs and shells cannot misread them.
            _ if letter.is_ascii_control() => {
                out.push_str(&format!("\\{:02X}", u32::from(letter)));
                continue;
            }
            ' ' if at == 0 || at == last => out.push('\\'),
            '#' if at == 0 => out.push('\\'),
            _ if SPECIAL.contains(&letter) => out.push('\\'),
            _ => {}
        }
        out.push(letter);
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("#{digits}")
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, KeyPair};

    use super::*;

    fn certificate(parts: &[(DnType, DnValue)]) -> Vec<u8> {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        for (kind, value) in parts {
            params.distinguished_name.push(kind.clone(), value.clone());
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn subjects_are_written_with_the_most_specific_part_first() {
        let text = |value: &str| DnValue::Utf8String(value.to_owned());
        let common = |value: &str| vec![(DnType::CommonName, text(value))];
        let email = DnType::CustomDnType(vec![1, 2, 840, 113_549, 1, 9, 1]);
        let other = DnType::CustomDnType(vec![2, 5, 4, 5]);
        for (parts, want) in [
            (vec![], None),
            (common("ann"), Some("CN=ann")),
            (
                vec![
                    (DnType::CountryName, text("DE")),
                    (DnType::OrganizationName, text("y")),
                    (DnType::OrganizationalUnitName, text("x")),
                    (DnType::CommonName, text("ann")),
                ],
                Some("CN=ann,OU=x,O=y,C=DE"),
            ),
            (vec![(email, text("a@b.example"))], Some("emailAddress=a@b.example")),
            (vec![(other, text("7"))], Some("2.5.4.5=7")),
            (common("a,b+c\"d\\e<f>g;h=i"), Some("CN=a\\,b\\+c\\\"d\\\\e\\<f\\>g\\;h=i")),
            (common("#a# b "), Some("CN=\\#a# b\\ ")),
            (common(" "), Some("CN=\\ ")),
            (common("a\0b\n"), Some("CN=a\\00b\\0A")),
            (common("日本"), Some("CN=日本")),
        ] {
            assert_eq!(subject_of(&certificate(&parts)).as_deref(), want);
        }
    }

    #[test]
    fn what_is_no_text_is_written_as_bytes_and_noise_has_no_subject() {
        let value = rcgen::string::BmpString::try_from("ab").unwrap();
        let bytes = certificate(&[(DnType::CommonName, DnValue::BmpString(value))]);
        assert_eq!(subject_of(&bytes).as_deref(), Some("CN=#00610062"));
        for noise in [&b""[..], b"\x30\x03\x02\x01\x01", &bytes[..bytes.len() / 2]] {
            assert_eq!(subject_of(noise), None);
        }
    }
}
