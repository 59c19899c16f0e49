//! Entra tokens: those of an identity service whose keys the operator configured, and those in the
//! emulators' format for local development, which are signed with an account key and need no
//! service.

use base64::{
    Engine as _, alphabet,
    engine::{
        DecodePaddingMode,
        general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD},
    },
};
use serde_json::Value;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::{
    date::MAX_SKEW_MS,
    denied::Denied,
    header::Authorization,
    issuer::Issuer,
    keys::{Keys, Right},
};

/// The audience that a token in the emulator's format must name.
const AUDIENCE: &str = "https://localhost.localhost";
/// The key id of a token of the emulator's format.
const KEY_ID: &str = "CosmosEmulatorPrimaryMaster";

/// Accepts base64 with and without padding, since clients send both.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The holder of a checked token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// The claim `oid`, or `sub` in a token without `oid`.
    pub principal: Option<String>,
    /// The right of the account key that signed the token; `None` for a token of an identity
    /// service.
    pub right: Option<Right>,
}

/// The signers whose tokens are accepted.
#[derive(Clone, Copy, Debug)]
pub struct Signers<'a> {
    /// The keys of the Cosmos DB account.
    pub keys: &'a Keys,
    /// Whether tokens of the emulators' format, signed with an account key, are accepted.
    pub emulator_tokens: bool,
    /// The identity service whose tokens are accepted.
    pub issuer: Option<&'a Issuer>,
}

/// Checks the token in a header and returns its holder; `now_ms` is the machine's clock. The order
/// of the checks decides the error: format, audience, signature, time, claims.
pub fn check_entra(
    signers: Signers<'_>,
    authorization: &Authorization<'_>,
    now_ms: i64,
) -> Result<Bearer, Denied> {
    let token = authorization.signature();
    let mut parts = token.split('.');
    let (Some(header), Some(claims), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Denied::Malformed);
    };
    let header = decode_object(header)?;
    let (claims, right) = if header.get("kid").and_then(Value::as_str) == Some(KEY_ID) {
        // Before the signature is checked: the reply must not reveal whether a guessed key is
        // right.
        if !signers.emulator_tokens {
            return Err(Denied::EmulatorToken);
        }
        let claims = decode_object(claims)?;
        if claims.get("aud").and_then(Value::as_str) != Some(AUDIENCE) {
            return Err(Denied::Signature);
        }
        let signature = URL_SAFE.decode(signature).map_err(|_| Denied::Malformed)?;
        (claims, Some(find_signer(signers.keys, &signature)?))
    } else {
        (signers.issuer.ok_or(Denied::Signature)?.claims(token)?, None)
    };
    check_times(&claims, now_ms)?;
    let (object, subject) = (text_claim(&claims, "oid")?, text_claim(&claims, "sub")?);
    Ok(Bearer { principal: object.or(subject).map(str::to_owned), right })
}

/// Returns a string claim; `None` if the token lacks it. An empty claim and a claim of another type
/// are refused and not treated as missing, because the caller replaces a missing claim by another.
fn text_claim<'a>(claims: &'a Value, name: &str) -> Result<Option<&'a str>, Denied> {
    match claims.get(name) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(Denied::Malformed),
    }
}

/// Returns a claim with a time in seconds since 1970, possibly fractional (RFC 7519, NumericDate);
/// `None` if the token lacks it. A claim of another type is refused.
fn time_claim(claims: &Value, name: &str) -> Result<Option<f64>, Denied> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or(Denied::Malformed),
    }
}

/// Refuses a token that has expired or is not yet valid. The claim `exp` is required.
fn check_times(claims: &Value, now_ms: i64) -> Result<(), Denied> {
    let (from, until) = (time_claim(claims, "nbf")?, time_claim(claims, "exp")?);
    // Exact, since milliseconds of any date are far below 2^53.
    let seconds = |ms: i64| ms as f64 / 1000.0;
    if until.ok_or(Denied::Malformed)? <= seconds(now_ms) {
        return Err(Denied::Expired);
    }
    if from.is_some_and(|from| seconds(now_ms.saturating_add(MAX_SKEW_MS)) < from) {
        return Err(Denied::Skewed);
    }
    Ok(())
}

/// Decodes a part of the token, base64 of JSON.
fn decode_object(part: &str) -> Result<Value, Denied> {
    let bytes = URL_SAFE.decode(part).map_err(|_| Denied::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| Denied::Malformed)
}

/// Returns the right of the signing key. The signature of a token in the emulator's format is the
/// key itself, as text or as bytes, so it is compared like a key, in constant time.
fn find_signer(keys: &Keys, signature: &[u8]) -> Result<Right, Denied> {
    for (text, right) in keys.texts() {
        let mut found: Choice = text.bytes().ct_eq(signature);
        if let Ok(bytes) = STANDARD.decode(text.bytes()).map(Zeroizing::new) {
            found |= bytes.ct_eq(signature);
        }
        if found.into() {
            return Ok(right);
        }
    }
    Err(Denied::Signature)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    use super::*;
    use crate::issuer;

    fn check(header: &str, claims: &str, signature: &[u8]) -> Result<Option<Right>, Denied> {
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
        let signature = URL_SAFE_NO_PAD.encode(signature);
        let text = format!("type=aad&ver=1.0&sig={header}.{claims}.{signature}");
        check_text(None, &text).map(|bearer| bearer.right)
    }

    fn check_text(issuer: Option<&Issuer>, text: &str) -> Result<Bearer, Denied> {
        let keys = &Keys::well_known().unwrap();
        let signers = Signers { keys, emulator_tokens: true, issuer };
        check_entra(signers, &Authorization::parse(text).unwrap(), 1_000_000)
    }

    #[test]
    fn tokens_of_a_service() {
        let audience = ["https://ebb.example".to_owned()];
        let issuer = Issuer::new(&issuer::tests::key_set("k"), &audience, None).unwrap();
        let named = |name: &str| Ok(Bearer { principal: Some(name.to_owned()), right: None });
        for (claims, want) in [
            (json!({ "oid": "ann", "sub": "x", "exp": 1001 }), named("ann")),
            (json!({ "sub": "x", "exp": 1001 }), named("x")),
            (json!({ "exp": 1001 }), Ok(Bearer { principal: None, right: None })),
            (json!({ "oid": "ann", "exp": 1000 }), Err(Denied::Expired)),
            (json!({ "oid": "ann" }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "exp": 9999, "nbf": 1901 }), Err(Denied::Skewed)),
            // Times may have fractions of a second.
            (json!({ "oid": "ann", "exp": 1000.5, "nbf": 1900 }), named("ann")),
            (json!({ "oid": "ann", "exp": 999.9 }), Err(Denied::Expired)),
            (json!({ "oid": "ann", "exp": 9e99, "nbf": 1900.5 }), Err(Denied::Skewed)),
            (json!({ "oid": "ann", "exp": u64::MAX, "nbf": u64::MAX }), Err(Denied::Skewed)),
            (json!({ "oid": "ann", "exp": 9999, "nbf": 86_400.5 }), Err(Denied::Skewed)),
            // Claims of a wrong type are refused, and no other claim replaces them.
            (json!({ "oid": "ann", "exp": "9999" }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "exp": [9999] }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "exp": null }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "exp": 9999, "nbf": "86400" }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "exp": 9999, "nbf": null }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "exp": 9999, "nbf": true }), Err(Denied::Malformed)),
            (json!({ "oid": 1, "sub": "ann", "exp": 9999 }), Err(Denied::Malformed)),
            (json!({ "oid": null, "sub": "ann", "exp": 9999 }), Err(Denied::Malformed)),
            (json!({ "oid": "", "sub": "ann", "exp": 9999 }), Err(Denied::Malformed)),
            (json!({ "oid": ["ann"], "exp": 9999 }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "sub": 1, "exp": 9999 }), Err(Denied::Malformed)),
        ] {
            let mut claims = claims;
            claims["aud"] = json!("https://ebb.example");
            let token = issuer::tests::token(Some("k"), &claims);
            let text = format!("type=aad&ver=1.0&sig={token}");
            assert_eq!(check_text(Some(&issuer), &text), want, "{claims}");
            assert_eq!(check_text(None, &text), Err(Denied::Signature), "{claims}");
        }
    }

    #[test]
    fn the_form_of_emulators_can_be_refused() {
        let keys = &Keys::well_known().unwrap();
        let [header, claims] = [
            r#"{"alg":"RS256","kid":"CosmosEmulatorPrimaryMaster"}"#,
            r#"{"aud":"https://localhost.localhost","exp":9999,"oid":"ann"}"#,
        ]
        .map(|part| URL_SAFE_NO_PAD.encode(part));
        for signature in [crate::keys::WELL_KNOWN_KEY, "other"] {
            let signature = URL_SAFE_NO_PAD.encode(signature);
            let text = format!("type=aad&ver=1.0&sig={header}.{claims}.{signature}");
            let signers = Signers { keys, emulator_tokens: false, issuer: None };
            let refused = check_entra(signers, &Authorization::parse(&text).unwrap(), 0);
            assert_eq!(refused, Err(Denied::EmulatorToken));
        }
    }

    #[test]
    fn tokens_of_local_development() {
        let header = r#"{"typ":"JWT","alg":"RS256","kid":"CosmosEmulatorPrimaryMaster"}"#;
        let claims = r#"{"aud":"https://localhost.localhost","nbf":1000,"exp":1001}"#;
        let text = crate::keys::WELL_KNOWN_KEY;
        let bytes = STANDARD.decode(text).unwrap();
        for (header, claims, signature, want) in [
            (header, claims, text.as_bytes(), Ok(Some(Right::Write))),
            (header, claims, &bytes, Ok(Some(Right::Write))),
            (header, claims, b"other", Err(Denied::Signature)),
            (header, claims, b"", Err(Denied::Signature)),
            ("{}", claims, text.as_bytes(), Err(Denied::Signature)),
            (header, r#"{"aud":"x","exp":9999}"#, text.as_bytes(), Err(Denied::Signature)),
            (header, &claims.replace("1001", "1000"), text.as_bytes(), Err(Denied::Expired)),
            (header, &claims.replace("1001", "\"x\""), text.as_bytes(), Err(Denied::Malformed)),
            (
                header,
                &claims.replace(":1000,", ":1901,").replace("1001", "9999"),
                text.as_bytes(),
                Err(Denied::Skewed),
            ),
            (header, "[", text.as_bytes(), Err(Denied::Malformed)),
        ] {
            assert_eq!(check(header, claims, signature), want, "{header} {claims}");
        }
        for text in ["a.b", "", "e30.e30.e30.e30", "!.!.!"] {
            let text = format!("type=aad&ver=1.0&sig={text}");
            assert_eq!(check_text(None, &text), Err(Denied::Malformed), "{text}");
        }
    }
}
