//! Whole exchanges: the examples of the RFCs, and errors of clients.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::*;
use crate::{key::Key, scram::attributes::MAX_SCRAM_BYTES};

/// An example of an RFC; the user is `user` and the password `pencil`.
struct Example {
    mechanism: Mechanism,
    salt: &'static str,
    own_nonce: &'static str,
    first: &'static str,
    server_first: &'static str,
    last: &'static str,
    server_last: &'static str,
}

/// Section 5 of RFC 5802 and section 3 of RFC 7677.
const EXAMPLES: [Example; 2] = [
    Example {
        mechanism: Mechanism::Sha1,
        salt: "QSXCR+Q6sek8bf92",
        own_nonce: "3rfcNHYJY1ZVvWVs7j",
        first: "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
        server_first: "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
        last: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        server_last: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
    },
    Example {
        mechanism: Mechanism::Sha256,
        salt: "W22ZaJ0SNY7soEsUEjb6gQ==",
        own_nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
        first: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        server_first: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        last: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        server_last: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    },
];

impl Example {
    fn verifier(&self) -> Verifier {
        let salt = STANDARD.decode(self.salt).unwrap();
        Verifier::of_password(self.mechanism, b"pencil", salt, 4096)
    }

    /// Starts an exchange with this example's server nonce. Returns it with the server-first
    /// message.
    fn begin(&self, first: &str, verifier: &Verifier) -> (Exchange, String) {
        let first = ClientFirst::parse(first.as_bytes()).unwrap();
        let (exchange, message) =
            Exchange::begin(self.mechanism, &first, verifier.clone(), self.own_nonce);
        (exchange, String::from_utf8(message).unwrap())
    }

    /// Returns the final message of a client with this password.
    fn last(&self, first: &str, server_first: &str, verifier: &Verifier, password: &str) -> String {
        let nonce = server_first.split(',').next().unwrap();
        self.last_with(first, (server_first, nonce), verifier, password)
    }

    /// Like `last`, with the text `nonce` in place of the nonce attribute of the server's message.
    fn last_with(
        &self,
        first: &str,
        (server_first, nonce): (&str, &str),
        verifier: &Verifier,
        password: &str,
    ) -> String {
        let bare = first.splitn(3, ',').last().unwrap();
        let header = STANDARD.encode(first.strip_suffix(bare).unwrap());
        let signed = format!("c={header},{nonce}");
        let mechanism = self.mechanism;
        let salted = mechanism.stretch(password.as_bytes(), &verifier.salt, verifier.iterations);
        let key = mechanism.sign(&salted, b"Client Key");
        let message = format!("{bare},{server_first},{signed}");
        let signature = mechanism.sign(&mechanism.hash(&key), message.as_bytes());
        let proof: Vec<u8> = key.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        format!("{signed},p={}", STANDARD.encode(proof))
    }
}

#[test]
fn exchanges_are_those_of_the_rfcs() {
    for example in &EXAMPLES {
        let (exchange, message) = example.begin(example.first, &example.verifier());
        assert_eq!(message, example.server_first);
        let own = exchange.finish(example.last.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(own).unwrap(), example.server_last);
    }
}

#[test]
fn only_the_password_signs_in() {
    for example in &EXAMPLES {
        let verifier = example.verifier();
        for first in ["n,,n=user,r=abc", "y,,n=user,r=abc", "n,a=user,n=user,r=abc,x=1"] {
            for (password, good) in [("pencil", true), ("Pencil", false), ("", false)] {
                let (exchange, message) = example.begin(first, &verifier);
                let last = example.last(first, &message, &verifier, password);
                let found = exchange.finish(last.as_bytes());
                assert_eq!(found.is_ok(), good, "{first} {password}");
                assert!(good || found == Err(ExchangeError::WrongProof));
            }
        }
    }
}

#[test]
fn each_of_several_passwords_signs_in() {
    for example in &EXAMPLES {
        let salt = STANDARD.decode(example.salt).unwrap();
        let of = |password: &[u8], salt: &[u8]| {
            Verifier::of_password(example.mechanism, password, salt.to_vec(), 4096)
        };
        let others = || vec![of(b"second", &salt), of(b"third", &salt), of(b"fourth", b"other")];
        let first = "n,,n=user,r=abc";
        for (password, want) in [
            ("pencil", Ok(0)),
            ("second", Ok(1)),
            ("third", Ok(2)),
            // It was hashed with another salt than the client's.
            ("fourth", Err(ExchangeError::WrongProof)),
            ("", Err(ExchangeError::WrongProof)),
        ] {
            let (exchange, message) = example.begin(first, &example.verifier());
            let last = example.last(first, &message, &example.verifier(), password);
            let found = exchange.with_others(others()).finish_with_any(last.as_bytes());
            assert_eq!(found.map(|(_, at)| at), want, "{password}");
        }
    }
}

#[test]
fn a_proof_with_any_bit_changed_is_wrong() {
    for example in &EXAMPLES {
        let verifier = example.verifier();
        let (signed, proof) = example.last.rsplit_once(",p=").unwrap();
        let proof = STANDARD.decode(proof).unwrap();
        for bit in 0..proof.len() * 8 {
            let mut changed = proof.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let (exchange, _) = example.begin(example.first, &verifier);
            let last = format!("{signed},p={}", STANDARD.encode(changed));
            assert_eq!(
                exchange.finish(last.as_bytes()),
                Err(ExchangeError::WrongProof),
                "bit {bit}"
            );
        }
    }
}

#[test]
fn a_message_cut_anywhere_or_with_any_bit_changed_is_refused() {
    for example in &EXAMPLES {
        let verifier = example.verifier();
        for end in 0..example.last.len() {
            let (exchange, _) = example.begin(example.first, &verifier);
            let found = exchange.finish(&example.last.as_bytes()[..end]);
            assert!(matches!(found, Err(ExchangeError::Malformed(_))), "{end}");
        }
        for bit in 0..example.last.len() * 8 {
            let mut changed = example.last.as_bytes().to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            let (exchange, _) = example.begin(example.first, &verifier);
            exchange.finish(&changed).unwrap_err();
        }
        // The shortest complete client-first message ends after one character of the nonce.
        let least = example.first.rfind("r=").unwrap() + 3;
        for end in 0..example.first.len() {
            let found = ClientFirst::parse(&example.first.as_bytes()[..end]);
            assert_eq!(found.is_ok(), least <= end, "{end}");
        }
    }
}

#[test]
fn last_messages_that_do_not_fit() {
    let example = &EXAMPLES[0];
    let verifier = example.verifier();
    let nonce = "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j";
    let proof = "p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=";
    let (binding, place) = ("channel binding mismatch", "the channel binding is missing");
    let (other_nonce, no_nonce) = ("nonce mismatch", "the nonce is missing");
    let (no_base64, length) = ("the proof is not base64", "the proof has the wrong length");
    let no_proof = "the proof is missing";
    for (last, want) in [
        (String::new(), no_proof),
        (format!("c=biws,{nonce}"), no_proof),
        (example.first.to_owned(), no_proof),
        (example.server_first.to_owned(), no_proof),
        (format!("{proof},c=biws,{nonce}"), no_proof),
        (format!(",{proof}"), place),
        (format!("{nonce},c=biws,{proof}"), place),
        (format!("n=user,{nonce},{proof}"), place),
        (format!("c=,{nonce},{proof}"), binding),
        (format!("c=eSws,{nonce},{proof}"), binding),
        (format!("c=biw,{nonce},{proof}"), binding),
        (format!("c=n,,,{nonce},{proof}"), binding),
        (format!("c=cD10bHMtdW5pcXVlLCw=,{nonce},{proof}"), binding),
        (format!("c=biws,{proof}"), "the message ends before the nonce"),
        (format!("c=biws,x=1,{nonce},{proof}"), no_nonce),
        (format!("c=biws,i=1,{nonce},{proof}"), no_nonce),
        (format!("c=biws,r=,{proof}"), other_nonce),
        (format!("c=biws,r=fyko+d2lbbFgONRv9qkxdawL,{proof}"), other_nonce),
        (format!("c=biws,{nonce}x,{proof}"), other_nonce),
        (format!("c=biws,r=3rfcNHYJY1ZVvWVs7j,{proof}"), other_nonce),
        (format!("c=biws,{nonce},m=x,{proof}"), "a mandatory extension is not supported"),
        (format!("c=biws,{nonce},i=1,{proof}"), "an attribute is out of place"),
        (format!("c=biws,{nonce},{proof},{proof}"), "an attribute is out of place"),
        (format!("c=biws,{nonce},,{proof}"), "an extension is not an attribute"),
        (format!("c=biws,{nonce},p="), length),
        (format!("c=biws,{nonce},p=v0X8"), length),
        (format!("c=biws,{nonce},p={}", STANDARD.encode([0; 21])), length),
        (format!("c=biws,{nonce},p={}", STANDARD.encode([0; 32])), length),
        (format!("c=biws,{nonce},{proof},x=1"), no_base64),
        (format!("c=biws,{nonce},{proof}\n"), no_base64),
        (format!("c=biws,{nonce},p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts"), no_base64),
        (format!("c=biws,{nonce},p=v0X8v3Bz2T0CJGbJQyF0X+HI4Tt="), no_base64),
        (format!("c=biws,{nonce},p=v0X8v3Bz2T0CJGbJQyF0X-HI4Ts="), no_base64),
        ("x".repeat(MAX_SCRAM_BYTES + 1), "the message is too long"),
        (format!("{}\0", example.last), "the message contains a zero byte"),
    ] {
        let (exchange, _) = example.begin(example.first, &verifier);
        let found = exchange.finish(last.as_bytes());
        assert_eq!(found, Err(ExchangeError::Malformed(Malformed(want))), "{last}");
    }
    let (exchange, _) = example.begin(example.first, &verifier);
    let found = exchange.finish(b"c=biws,\xff,p=");
    assert_eq!(found, Err(ExchangeError::Malformed(Malformed("the message is not UTF-8"))));
}

#[test]
fn an_unknown_extension_of_the_last_message_is_signed_and_ignored() {
    let example = &EXAMPLES[1];
    let verifier = example.verifier();
    let (exchange, message) = example.begin(example.first, &verifier);
    let nonce = format!("{},x=1", message.split(',').next().unwrap());
    let last = example.last_with(example.first, (&message, &nonce), &verifier, "pencil");
    assert!(last.contains(",x=1,p="));
    exchange.finish(last.as_bytes()).unwrap();
    let (exchange, _) = example.begin(example.first, &verifier);
    let last = example.last.replace(",p=", ",x=1,p=");
    assert_eq!(
        exchange.finish(last.as_bytes()),
        Err(ExchangeError::WrongProof),
        "it was not signed"
    );
}

#[test]
fn a_proof_is_good_for_one_exchange() {
    for example in &EXAMPLES {
        let first = ClientFirst::parse(example.first.as_bytes()).unwrap();
        let nonce = make_nonce(&[7; 24]);
        let (again, _) = Exchange::begin(example.mechanism, &first, example.verifier(), &nonce);
        again.finish(example.last.as_bytes()).unwrap_err();
        // The proof is wrong even if the message has the nonce of the new exchange.
        let (again, _) = Exchange::begin(example.mechanism, &first, example.verifier(), &nonce);
        let last = example.last.replace(example.own_nonce, &nonce);
        assert_eq!(again.finish(last.as_bytes()), Err(ExchangeError::WrongProof));
    }
}

#[test]
fn an_unknown_user_looks_like_one_with_a_wrong_password() {
    let key = Key::of(&[9; 32]).unwrap();
    for example in &EXAMPLES {
        let fake = Verifier::fake(example.mechanism, "nobody", &key);
        let first = "n,,n=nobody,r=abc";
        let (exchange, message) = example.begin(first, &fake);
        let known = Verifier::of_password(
            example.mechanism,
            b"pencil",
            vec![1; example.mechanism.salt_bytes()],
            example.mechanism.iterations(),
        );
        let (_, other) = example.begin("n,,n=somebody,r=abc", &known);
        assert_eq!(message.len(), other.len());
        assert_eq!(message.rsplit_once(",i=").unwrap().1, other.rsplit_once(",i=").unwrap().1);
        for password in ["", "pencil", "nobody"] {
            let (exchange, _) = example.begin(first, &fake);
            let last = example.last(first, &message, &fake, password);
            assert_eq!(exchange.finish(last.as_bytes()), Err(ExchangeError::WrongProof));
        }
        // A client that uses the stored key as its own key.
        let signed = "c=biws,".to_owned() + message.split(',').next().unwrap();
        let whole = format!("n=nobody,r=abc,{message},{signed}");
        let signature = example.mechanism.sign(&fake.stored_key, whole.as_bytes());
        let proof: Vec<u8> = signature.iter().zip(&fake.stored_key).map(|(a, b)| a ^ b).collect();
        let last = format!("{signed},p={}", STANDARD.encode(proof));
        assert_eq!(exchange.finish(last.as_bytes()), Err(ExchangeError::WrongProof));
    }
}

#[test]
fn stored_keys_of_a_wrong_length_let_nobody_in() {
    let example = &EXAMPLES[0];
    for length in [0, 19, 21, 100] {
        let verifier = Verifier { stored_key: vec![0; length], ..example.verifier() };
        let (exchange, _) = example.begin(example.first, &verifier);
        assert_eq!(exchange.finish(example.last.as_bytes()), Err(ExchangeError::WrongProof));
    }
}

#[test]
fn nonces_are_printable_and_of_one_length() {
    for byte in 0..=255 {
        let nonce = make_nonce(&[byte; 24]);
        assert_eq!(nonce.len(), 32);
        assert!(nonce.bytes().all(|byte| byte.is_ascii_graphic() && byte != b','));
    }
    let mut first = [0; 24];
    first[0] = 1;
    assert_ne!(make_nonce(&first), make_nonce(&[0; 24]));
}

/// A linear congruential generator, which produces the same bytes in each run.
struct Bytes(u64);

impl Bytes {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

#[test]
fn random_messages_are_answered_and_never_let_in() {
    let mut random = Bytes(1);
    let pieces: [&[u8]; 20] = [
        b"n",
        b"y",
        b"p",
        b"c",
        b"r",
        b"m",
        b"a",
        b"=",
        b",",
        b"=2C",
        b"=3D",
        b"biws",
        b"\0",
        b"\xc3",
        b"\xa4",
        b",p=",
        b"n,,",
        b"n=u",
        b"abc3rfcNHYJY1ZVvWVs7j",
        b"AAAA",
    ];
    let example = &EXAMPLES[0];
    let verifier = example.verifier();
    let mut read = 0;
    for _ in 0..20_000 {
        let message: Vec<u8> = if random.below(4) == 0 {
            (0..random.below(40)).map(|_| u8::try_from(random.below(256)).unwrap()).collect()
        } else {
            (0..random.below(12))
                .flat_map(|_| pieces[random.below(pieces.len())].to_vec())
                .collect()
        };
        read += usize::from(ClientFirst::parse(&message).is_ok());
        read += usize::from(ClientFirst::parse(&[b"n,,n=u,r=", &message[..]].concat()).is_ok());
        let (exchange, _) = example.begin("n,,n=u,r=abc", &verifier);
        exchange.finish(&message).unwrap_err();
        let (exchange, _) = example.begin("n,,n=u,r=abc", &verifier);
        let begun = [b"c=biws,r=abc3rfcNHYJY1ZVvWVs7j", &message[..]].concat();
        exchange.finish(&begun).unwrap_err();
    }
    assert!(100 < read, "some of them are messages: {read}");
}

#[test]
fn failures_and_exchanges_print_nothing_that_was_sent_or_stored() {
    let example = &EXAMPLES[0];
    let verifier = example.verifier();
    let (exchange, _) = example.begin("n,,n=user,r=planted", &verifier);
    assert_eq!(format!("{exchange:?}"), "Exchange { mechanism: Sha1, .. }");
    let failed = exchange.finish(b"c=planted,r=planted,p=planted").unwrap_err();
    assert!(!format!("{failed:?} {failed}").contains("planted"), "{failed:?}");
}
