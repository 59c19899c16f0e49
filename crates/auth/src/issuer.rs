//! Tokens of an identity service, signed with one of its keys, which the operator configures as a
//! set of public keys (RFC 7517). No network access is needed. The caller checks the times.

use std::{collections::HashMap, fmt};

use jsonwebtoken::{
    AlgorithmFamily, DecodingKey, Validation, decode, decode_header,
    errors::ErrorKind,
    jwk::{JwkSet, PublicKeyUse},
};
use serde_json::Value;

use crate::denied::Denied;

/// An identity service whose tokens are trusted.
#[derive(Clone)]
pub struct Issuer {
    /// The public keys of the service by key id, each with the rules for validating its tokens.
    keys: HashMap<String, (DecodingKey, Validation)>,
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

impl Issuer {
    /// Reads a set of public keys. Tokens must be issued for one of these audiences and, if
    /// `issuer` is given, by this issuer. The error is a message text.
    pub fn new(key_set: &str, audience: &[String], issuer: Option<&str>) -> Result<Self, String> {
        let set: JwkSet = serde_json::from_str(key_set)
            .map_err(|error| format!("not a JSON Web Key Set (JWKS): {error}"))?;
        let mut keys = HashMap::new();
        for key in &set.keys {
            let signs = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
            let (Some(name), true) = (&key.common.key_id, signs) else { continue };
            let decoding = DecodingKey::from_jwk(key)
                .map_err(|error| format!("key {name} cannot be used: {error}"))?;
            // A shared secret that verifies tokens can also sign them.
            if decoding.family() == AlgorithmFamily::Hmac {
                return Err(format!(
                    "key {name} is a shared secret; only public keys are accepted"
                ));
            }
            let mut validation = Validation::new_for_family(decoding.family());
            // The caller checks the times with its own clock.
            (validation.validate_exp, validation.validate_nbf) = (false, false);
            validation.set_audience(audience);
            validation.set_required_spec_claims(&["aud"]);
            if let Some(issuer) = issuer {
                validation.set_issuer(&[issuer]);
                validation.set_required_spec_claims(&["aud", "iss"]);
            }
            keys.insert(name.clone(), (decoding, validation));
        }
        if keys.is_empty() {
            return Err("no signature-verification key with a `kid`".to_owned());
        }
        Ok(Self { keys })
    }

    /// Returns the claims of a token that was signed with one of the keys.
    pub(crate) fn claims(&self, token: &str) -> Result<Value, Denied> {
        let header = decode_header(token).map_err(|_| Denied::Malformed)?;
        let name = header.kid.ok_or(Denied::Malformed)?;
        let (key, validation) = self.keys.get(&name).ok_or(Denied::Signature)?;
        match decode::<Value>(token, key, validation) {
            Ok(token) => Ok(token.claims),
            Err(error) => Err(match error.kind() {
                ErrorKind::InvalidToken
                | ErrorKind::Base64(_)
                | ErrorKind::Json(_)
                | ErrorKind::Utf8(_) => Denied::Malformed,
                _ => Denied::Signature,
            }),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
    use serde_json::json;

    use super::*;

    /// A P-256 key in PKCS #8, generated for this test and used for nothing else.
    const PRIVATE: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkmSArQDTzan207klnEGCFwof\
                           GYGvkThl0IwjoXPV8cahRANCAASDOTblR0gKpHl2BIOs9KRA0ld5m2T58kJ2ueHOB66WwiNt\
                           wSWjF4iDD8WGSC9+U/z3tUuW7o0fmxbpwkN6G1CK";

    fn private() -> EncodingKey {
        EncodingKey::from_ec_der(&STANDARD.decode(PRIVATE).unwrap())
    }

    /// Returns a key set that contains the public half of the test key under this id.
    pub(crate) fn key_set(name: &str) -> String {
        let mut key = Jwk::from_encoding_key(&private(), Algorithm::ES256).unwrap();
        (key.common.key_id, key.common.key_algorithm) = (Some(name.to_owned()), None);
        json!({ "keys": [key] }).to_string()
    }

    /// Returns a token signed with the test key.
    pub(crate) fn token(name: Option<&str>, claims: &Value) -> String {
        let header = Header { kid: name.map(str::to_owned), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &private()).unwrap()
    }

    #[test]
    fn tokens_are_of_a_known_key_for_this_server_and_of_this_issuer() {
        let audience = ["https://ebb.example".to_owned()];
        let any = Issuer::new(&key_set("k"), &audience, None).unwrap();
        let one = Issuer::new(&key_set("k"), &audience, Some("https://issuer")).unwrap();
        let good = json!({ "aud": "https://ebb.example", "iss": "https://issuer", "oid": "ann" });
        let with = |name: &str, value: Value| {
            let mut claims = good.clone();
            claims[name] = value;
            token(Some("k"), &claims)
        };
        let text = token(Some("k"), &good);
        assert_eq!(any.claims(&text), Ok(good.clone()));
        assert_eq!(one.claims(&text), Ok(good.clone()));
        for (token, of_any, of_one) in [
            (with("aud", json!(["x", "https://ebb.example"])), true, true),
            (with("aud", json!("https://ebb.example/")), false, false),
            (with("aud", Value::Null), false, false),
            (with("iss", json!("https://other")), true, false),
            (with("iss", Value::Null), true, false),
            (token(Some("other"), &good), false, false),
        ] {
            let found = [any.claims(&token), one.claims(&token)].map(|claims| claims.is_ok());
            assert_eq!(found, [of_any, of_one], "{token}");
        }
        let unsigned = STANDARD.encode(r#"{"alg":"none","kid":"k"}"#).replace('=', "");
        let mut parts = text.split('.').skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert!(any.claims(&format!("{unsigned}.{}.", parts[0])).is_err());
        parts[0].insert(2, 'A');
        let head = text.split('.').next().unwrap();
        assert!(any.claims(&format!("{head}.{}", parts.join("."))).is_err());
        for token in [token(None, &good), String::new(), "a.b".to_owned(), "a.b.c".to_owned()] {
            assert_eq!(any.claims(&token), Err(Denied::Malformed), "{token}");
        }
    }

    #[test]
    fn sets_without_public_keys_are_refused() {
        let shared = r#"{"keys":[{"kty":"oct","kid":"k","k":"c2VjcmV0"}]}"#;
        for (set, why) in [
            ("", "not a JSON Web Key Set"),
            ("[]", "not a JSON Web Key Set"),
            (r#"{"keys":[]}"#, "no signature-verification key"),
            (shared, "shared secret"),
            (r#"{"keys":[{"kty":"RSA","kid":"k","n":"!","e":"AQAB"}]}"#, "cannot be used"),
        ] {
            let refused = Issuer::new(set, &[], None).unwrap_err();
            assert!(refused.contains(why), "{set}: {refused}");
        }
    }
}
