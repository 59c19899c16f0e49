//! Entra tokens in the form that local development uses: signed with the account's key itself, so
//! that no identity service is needed. Tokens of a real one are refused.

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

/// Returns what the holder of the token in a header may do; `now_ms` is the machine's clock. The order
/// of the checks decides the error: form, audience, signature, time.
pub fn check_entra(
    keys: &Keys,
    authorization: &Authorization<'_>,
    now_ms: i64,
) -> Result<Right, Denied> {
    let mut parts = authorization.signature().split('.');
    let (Some(header), Some(claims), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Denied::Malformed);
    };
    let (header, claims) = (decode_object(header)?, decode_object(claims)?);
    if header.get("kid").and_then(Value::as_str) != Some(KEY_ID)
        || claims.get("aud").and_then(Value::as_str) != Some(AUDIENCE)
    {
        return Err(Denied::Signature);
    }
    let right = find_signer(keys, &URL_SAFE.decode(signature).map_err(|_| Denied::Malformed)?)?;
    let second = |name: &str| claims.get(name).and_then(Value::as_i64);
    let (now, skew) = (now_ms.div_euclid(1000), MAX_SKEW_MS / 1000);
    if second("exp").ok_or(Denied::Malformed)? <= now {
        return Err(Denied::Expired);
    }
    if second("nbf").is_some_and(|from| now.saturating_add(skew) < from) {
        return Err(Denied::Skewed);
    }
    Ok(right)
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

    use super::*;

    fn check(header: &str, claims: &str, signature: &[u8]) -> Result<Right, Denied> {
        let [header, claims] = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
        let signature = URL_SAFE_NO_PAD.encode(signature);
        let text = format!("type=aad&ver=1.0&sig={header}.{claims}.{signature}");
        check_entra(&Keys::well_known().unwrap(), &Authorization::parse(&text).unwrap(), 1_000_000)
    }

    #[test]
    fn tokens_of_local_development() {
        let header = r#"{"typ":"JWT","alg":"RS256","kid":"CosmosEmulatorPrimaryMaster"}"#;
        let claims = r#"{"aud":"https://localhost.localhost","nbf":1000,"exp":1001}"#;
        let text = crate::keys::WELL_KNOWN_KEY;
        let bytes = STANDARD.decode(text).unwrap();
        for (header, claims, signature, want) in [
            (header, claims, text.as_bytes(), Ok(Right::Write)),
            (header, claims, &bytes, Ok(Right::Write)),
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
            let found = Authorization::parse(&text).unwrap();
            let found = check_entra(&Keys::well_known().unwrap(), &found, 0);
            assert_eq!(found, Err(Denied::Malformed), "{text}");
        }
    }
}
