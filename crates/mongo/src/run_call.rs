//! Runs a command while its client and the server's stop are watched. What comes of it is sent elsewhere.

use std::{future::pending, pin::pin};

use engine::Store;
use tokio::{io::AsyncBufRead, sync::watch};

use crate::{
    call::Call, commands, incoming::client_left, limits::STOP_TIME, operation::StopReason,
    pause::sleep,
};

/// Runs a command. What only reads ends when its client leaves; who waits for news of the server is
/// let go when it stops, and everything else that still runs a while later is told to end.
pub(crate) async fn run_call<S: Store>(
    call: &Call<'_, S>,
    stream: &mut (impl AsyncBufRead + Unpin),
    stop: &mut watch::Receiver<bool>,
) -> commands::Response {
    let row = call.known.map(|known| known.row);
    // Only a handshake waits by `maxAwaitTimeMS`; a tailable cursor would too, and there are none.
    let waits =
        row.is_some_and(|row| row.awaits_state) && call.body.get("maxAwaitTimeMS").is_some();
    let mut run = pin!(commands::run(call));
    let why = tokio::select! {
        biased;
        answer = &mut run => return answer,
        () = has_stopped(stop, waits) => StopReason::Stopping,
        () = client_left(stream), if row.is_some_and(|row| row.ends_with_client) => {
            StopReason::ClientLeft
        }
    };
    if waits {
        return commands::Response::CloseConnection;
    }
    // The command may have taken over a cursor's operation, so the one under way is told, and it is
    // awaited: it gives back what it holds, and what it has begun to store is stored.
    call.connection.stop_command(None, why);
    run.await
}

/// Waits until the server stops, and then as long as it lets commands end by themselves.
async fn has_stopped(stop: &mut watch::Receiver<bool>, at_once: bool) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // Nobody is left who could stop it.
        pending::<()>().await;
    }
    if !at_once {
        sleep(STOP_TIME).await;
    }
}
