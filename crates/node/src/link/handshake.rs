//! The handshake that starts a connection between two nodes, for both sides.

use std::io;

use auth::Key;
use cosmos::Duplex;
use memory::Account;
use server_base::random::random_bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::call::{Call, CallReply};

/// First bytes sent by the called node; the digit is the version of the link.
const MAGIC: &[u8; 8] = b"ebblink1";
/// Maximum size of a call, which contains names of users and certificates.
const CALL_MAX: usize = 32 << 10;

/// Domain separation of signatures, so that the signature of one message is not valid for another.
const CALL: &[u8] = b"call";
const ANSWER: &[u8] = b"answer";

/// A call whose caller has proved knowledge of the cluster's secret.
pub(crate) struct IncomingCall {
    pub(crate) call: Call,
    stream: Box<dyn Duplex>,
    challenge: [u8; 32],
    key: Key,
}

impl IncomingCall {
    /// Sends the verdict and returns the stream.
    pub(crate) async fn answer(mut self, verdict: CallReply) -> io::Result<Box<dyn Duplex>> {
        let byte = [verdict as u8];
        let nonce = self.call.nonce.as_bytes();
        let signature = self.key.sign(&[ANSWER, nonce, &self.challenge, &byte]);
        self.stream.write_all(&[&byte[..], &signature].concat()).await?;
        self.stream.flush().await?;
        Ok(self.stream)
    }
}

/// Runs the called side of a handshake; fails if the caller does not have the secret. Until that is
/// verified, its data are charged to `strangers`, the account for clients that are not
/// authenticated.
pub(crate) async fn accept_handshake(
    mut stream: Box<dyn Duplex>,
    key: Key,
    strangers: &Account,
) -> io::Result<IncomingCall> {
    let challenge = random_bytes()?;
    stream.write_all(&[&MAGIC[..], &challenge].concat()).await?;
    stream.flush().await?;
    let length = usize::from(stream.read_u16().await?);
    if CALL_MAX < length {
        return Err(refused("the call is too long"));
    }
    let _held = strangers.share_of(length)?;
    // Grows as data arrive: a length alone reserves no memory.
    let mut text = Vec::new();
    (&mut stream).take(length as u64).read_to_end(&mut text).await?;
    if text.len() != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut signature = [0; 32];
    stream.read_exact(&mut signature).await?;
    if !bool::from(key.verifies(&[CALL, &challenge, &text], &signature)) {
        return Err(refused("the call is not signed with the cluster's secret"));
    }
    let call = serde_json::from_slice(&text)
        .map_err(|_| refused("the calling node has a different version"))?;
    Ok(IncomingCall { call, stream, challenge, key })
}

/// Runs the calling side; returns the verdict, or fails if the called node lacks the secret.
pub(crate) async fn call(
    stream: &mut (impl Duplex + ?Sized),
    call: &Call,
    key: &Key,
) -> io::Result<CallReply> {
    let mut first = [0; 40];
    stream.read_exact(&mut first).await?;
    let (magic, challenge) = first.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(refused("no node of this version is listening there"));
    }
    let text = serde_json::to_vec(call).map_err(io::Error::other)?;
    let length = u16::try_from(text.len()).map_err(|_| refused("the call is too long"))?;
    let signature = key.sign(&[CALL, challenge, &text]);
    stream.write_all(&[&length.to_be_bytes()[..], &text, &signature].concat()).await?;
    stream.flush().await?;
    let mut answer = [0; 33];
    stream.read_exact(&mut answer).await?;
    let [byte, signature @ ..] = answer;
    let nonce = call.nonce.as_bytes();
    if !bool::from(key.verifies(&[ANSWER, nonce, challenge, &[byte]], &signature)) {
        return Err(refused("the node called does not know the cluster's secret"));
    }
    CallReply::of(byte).ok_or_else(|| refused("the node called has a different version"))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;
    use uuid::Uuid;

    use super::*;
    use crate::link::Purpose;

    fn example() -> Call {
        Call {
            cluster: Uuid::from_u128(1),
            shard: 3,
            purpose: Purpose::Mongo,
            client: Some("10.0.0.1:5".parse().unwrap()),
            secure: false,
            guest: None,
            open: true,
            nonce: "n".repeat(32),
        }
    }

    async fn greeted(far: DuplexStream, key: Key, strangers: Account) -> io::Result<IncomingCall> {
        accept_handshake(Box::new(far), key, &strangers).await
    }

    /// Many incomplete handshakes use only the memory account for unauthenticated clients.
    #[tokio::test]
    async fn half_calls_count_before_anybody_is_believed() {
        let (key, strangers) = (Key::of(b"secret").unwrap(), Account::new(3 * CALL_MAX));
        let mut calls = Vec::new();
        for _ in 0..8 {
            let (mut near, far) = tokio::io::duplex(1 << 20);
            let called = tokio::spawn(greeted(far, key.clone(), strangers.clone()));
            near.read_exact(&mut [0; 40]).await.unwrap();
            near.write_u16(CALL_MAX as u16).await.unwrap();
            near.write_all(&[7; CALL_MAX - 1]).await.unwrap();
            calls.push((near, called));
        }
        // Calls beyond the account's limit are refused, the others wait for their last byte.
        while calls.iter().filter(|(_, called)| called.is_finished()).count() < 5 {
            tokio::task::yield_now().await;
        }
        assert!(strangers.used_bytes() <= 3 * CALL_MAX);
        for (near, called) in calls {
            drop(near);
            assert!(called.await.unwrap().is_err());
        }
        assert_eq!(strangers.used_bytes(), 0);
    }

    #[tokio::test]
    async fn nodes_that_know_the_secret_understand_each_other() {
        let key = Key::of(b"secret").unwrap();
        let (mut near, far) = tokio::io::duplex(10_000);
        let called = tokio::spawn({
            let key = key.clone();
            async move {
                let strangers = Account::new(1 << 20);
                let called = accept_handshake(Box::new(far), key, &strangers).await.unwrap();
                assert_eq!(strangers.used_bytes(), 0);
                assert_eq!(called.call, example());
                called.answer(CallReply::NotOwner).await.unwrap();
            }
        });
        assert_eq!(call(&mut near, &example(), &key).await.unwrap(), CallReply::NotOwner);
        called.await.unwrap();
    }

    #[tokio::test]
    async fn nobody_is_believed_who_does_not_know_it() {
        let (right, wrong) = (Key::of(b"secret").unwrap(), Key::of(b"other").unwrap());
        let (mut near, far) = tokio::io::duplex(10_000);
        let called = tokio::spawn(greeted(far, right.clone(), Account::new(1 << 20)));
        assert!(call(&mut near, &example(), &wrong).await.is_err());
        assert!(called.await.unwrap().is_err_and(|error| error.to_string().contains("signed")));
        // A recorded reply is not valid for another call.
        let (mut near, mut far) = tokio::io::duplex(10_000);
        let caller = tokio::spawn(async move { call(&mut near, &example(), &right).await });
        far.write_all(&[&MAGIC[..], &[7; 32]].concat()).await.unwrap();
        let length = usize::from(far.read_u16().await.unwrap());
        far.read_exact(&mut vec![0; length + 32]).await.unwrap();
        far.write_all(&[0; 33]).await.unwrap();
        let refusal = caller.await.unwrap().unwrap_err();
        assert!(refusal.to_string().contains("does not know"), "{refusal}");
    }

    #[tokio::test]
    async fn noise_is_refused() {
        let key = Key::of(b"secret").unwrap();
        for noise in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 80], &[0; 100], b""] {
            let (mut near, far) = tokio::io::duplex(10_000);
            let called = tokio::spawn(greeted(far, key.clone(), Account::new(1 << 20)));
            near.write_all(noise).await.unwrap();
            near.shutdown().await.unwrap();
            assert!(called.await.unwrap().is_err(), "{noise:?}");
        }
    }
}
