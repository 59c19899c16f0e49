//! Runs a command, and stops it when its client disconnects or the server stops.

use std::{future::pending, pin::pin};

use tokio::{io::AsyncBufRead, sync::watch};

use crate::{
    call::Call, commands, incoming::client_left, limits::STOP_TIME, operation::StopReason,
    pause::sleep,
};

/// Runs a command. A read stops when its client disconnects. When the server stops, clients that
/// wait for a change of state are disconnected immediately, and other commands are stopped after a
/// grace period.
pub(crate) async fn run_call(
    call: &Call<'_>,
    stream: &mut (impl AsyncBufRead + Unpin),
    stop: &mut watch::Receiver<bool>,
) -> commands::Response {
    let row = call.known.map(|known| known.row);
    // Only handshakes wait by `maxAwaitTimeMS`.
    let waits =
        row.is_some_and(|row| row.awaits_state) && call.body.get("maxAwaitTimeMS").is_some();
    let mut run = pin!(commands::run(call));
    let why = tokio::select! {
        biased;
        answer = &mut run => return answer,
        () = has_stopped(call, stop, waits) => StopReason::Stopping,
        () = client_left(stream), if row.is_some_and(|row| row.ends_with_client) => {
            StopReason::ClientLeft
        }
    };
    if waits {
        return commands::Response::CloseConnection;
    }
    if matches!(why, StopReason::Stopping) {
        // Writes may wait for transactions, whose clients can send nothing more.
        call.api.abort_all_transactions();
    }
    // The connection's current operation is cancelled, not the one started here, since the command
    // may have taken over the operation of a cursor. The command is then awaited, so that it
    // releases its resources and completes a started commit.
    call.connection.stop_command(None, why);
    run.await
}

/// Waits until the server stops, and then for the grace period unless `at_once`.
async fn has_stopped(call: &Call<'_>, stop: &mut watch::Receiver<bool>, at_once: bool) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // The sender is dropped, so the stop can no longer be signalled.
        pending::<()>().await;
    }
    // A request that waits for documents has nothing to finish.
    let waits = || call.connection.running_command().is_some_and(|it| it.operation.is_waiting());
    if !at_once && !waits() {
        sleep(STOP_TIME).await;
    }
}
