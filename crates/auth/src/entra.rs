//! Entra tokens: those of a service whose keys the operator gave, and those in the form that local
//! development uses, signed with the account's key itself, so that no service is needed.

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
    denied::Denied,
    header::Authorization,
    issuer::Issuer,
    keys::{Keys, Right},
    limits::MAX_SKEW_MS,
};

/// The audience that such a token has to name, as the emulator's tools do.
const AUDIENCE: &str = "https://localhost.localhost";
/// Name of the key that it says it was signed with, as the emulator's tools do.
const KEY_ID: &str = "CosmosEmulatorPrimaryMaster";

/// With or without padding: both are seen.
const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Who a token says that its holder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// The claim `oid`, or `sub` in a token without one.
    pub principal: Option<String>,
    /// What the key of the account may do with which a token of local development was signed; `None`: the
    /// token is of a service.
    pub right: Option<Right>,
}

/// Returns the holder of the token in a header; `now_ms` is the machine's clock. The order of the checks
/// decides the error: form, audience, signature, time.
pub fn check_entra(
    keys: &Keys,
    issuer: Option<&Issuer>,
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
        let claims = decode_object(claims)?;
        if claims.get("aud").and_then(Value::as_str) != Some(AUDIENCE) {
            return Err(Denied::Signature);
        }
        let signature = URL_SAFE.decode(signature).map_err(|_| Denied::Malformed)?;
        (claims, Some(find_signer(keys, &signature)?))
    } else {
        (issuer.ok_or(Denied::Signature)?.claims(token)?, None)
    };
    check_times(&claims, now_ms)?;
    let named = |name: &str| claims.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    Ok(Bearer { principal: named("oid").or_else(|| named("sub")).map(str::to_owned), right })
}

/// Refuses a token whose time is over or has not begun. It has to say when it is over.
fn check_times(claims: &Value, now_ms: i64) -> Result<(), Denied> {
    let second = |name: &str| claims.get(name).and_then(Value::as_i64);
    let (now, skew) = (now_ms.div_euclid(1000), MAX_SKEW_MS / 1000);
    if second("exp").ok_or(Denied::Malformed)? <= now {
        return Err(Denied::Expired);
    }
    if second("nbf").is_some_and(|from| now.saturating_add(skew) < from) {
        return Err(Denied::Skewed);
    }
    Ok(())
}

/// Returns a part of the token, base64 of JSON.
fn decode_object(part: &str) -> Result<Value, Denied> {
    let bytes = URL_SAFE.decode(part).map_err(|_| Denied::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| Denied::Malformed)
}

/// Returns the right of the key that signed. The signature of such a token is the key itself, as text
/// or as bytes, so it is compared like a key, in constant time.
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
        let keys = Keys::well_known().unwrap();
        check_entra(&keys, issuer, &Authorization::parse(text).unwrap(), 1_000_000)
    }

    #[test]
    fn tokens_of_a_service() {
        let audience = ["https://ebb.example".to_owned()];
        let issuer = Issuer::new(&issuer::tests::key_set("k"), &audience, None).unwrap();
        let named = |name: &str| Ok(Bearer { principal: Some(name.to_owned()), right: None });
        for (claims, want) in [
            (json!({ "oid": "ann", "sub": "x", "exp": 1001 }), named("ann")),
            (json!({ "oid": "", "sub": "x", "exp": 1001 }), named("x")),
            (json!({ "exp": 1001 }), Ok(Bearer { principal: None, right: None })),
            (json!({ "oid": "ann", "exp": 1000 }), Err(Denied::Expired)),
            (json!({ "oid": "ann" }), Err(Denied::Malformed)),
            (json!({ "oid": "ann", "exp": 9999, "nbf": 1901 }), Err(Denied::Skewed)),
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
