//! Fuzz targets of the parsers of logins and signatures.

use auth::{
    Authorization, Hosts, Key, Keys, Right, Signers, StringToSign, Token, WELL_KNOWN_KEY,
    check_entra, http_date,
    scram::{ClientFirst, Exchange, Mechanism, Verifier, prepare_password},
};

/// 2026-01-01 in milliseconds since 1970.
const NOW_MS: i64 = 1_767_225_600_000;

/// Parses two messages of a login, separated by a NUL. No login may succeed.
pub(crate) fn scram(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = prepare_password(text);
    }
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (first, last) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(first) = ClientFirst::parse(first) else { return };
    let Ok(key) = Key::of(b"a key of the server's") else { return };
    for mechanism in [Mechanism::Sha1, Mechanism::Sha256] {
        let verifier = Verifier::fake(mechanism, &first.user, &key);
        // The server's nonce is known to the fuzzer, so that it gets further than an attacker.
        let (exchange, _) = Exchange::begin(mechanism, &first, verifier, "x");
        assert!(exchange.finish(last).is_err(), "a user that does not exist has logged in");
    }
}

/// Checks the signature of a request, given as lines: authorization header, date and resource link.
/// Only a valid signature may be accepted.
pub(crate) fn signatures(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.splitn(3, '\n');
    let header = lines.next().unwrap_or_default();
    let date = lines.next().unwrap_or_default();
    let link = lines.next().unwrap_or_default();
    let _ = (http_date(date), Keys::parse(text), Key::parse(link));
    let _ = Hosts::new(&["localhost".to_owned()]).holds(link);
    let (Ok(keys), Ok(secret)) =
        (Keys::new(&[(WELL_KNOWN_KEY, Right::Write)]), Key::parse(WELL_KNOWN_KEY))
    else {
        return;
    };
    let Ok(authorization) = Authorization::parse(header) else { return };
    let links = [link];
    let signed =
        StringToSign { verb: "GET", kind: "docs", links: &links, ms_date: Some(date), date: None };
    let _ = signed.check(&keys, &authorization, NOW_MS);
    let signers = Signers { keys: &keys, emulator_tokens: true, issuer: None };
    let _ = check_entra(signers, &authorization, NOW_MS);
    assert!(Token::check(&secret, &authorization, 0).is_err(), "a forged token was accepted");
}
