//! Requests in direct mode from their admission to their answers.

use std::{pin::Pin, sync::Arc};

use bytes::Bytes;
use rntbd::RequestHead;

use super::reply_frame::ReturnAddress;
use crate::{
    api::NoSqlApi,
    exchange::{Activity, Answer, Exchange, failure_reply},
    failure::{Failure, Fault},
    operation::Task,
    request::Request,
    transport::Transport,
};

/// The future of a request, which yields its answer.
pub(super) type Running = Pin<Box<dyn Future<Output = (Answer, ReturnAddress)> + Send>>;

/// A request that was admitted and whose body may still arrive.
pub(super) struct Waiting {
    pub(super) api: Arc<NoSqlApi>,
    pub(super) exchange: Exchange,
    pub(super) request: Request,
    pub(super) to: ReturnAddress,
}

impl Waiting {
    /// Returns the answer to the request if its body is not received.
    pub(super) fn refuse(self, failure: &Failure) -> (Answer, ReturnAddress) {
        let Self { api, exchange, to, .. } = self;
        let reply = exchange.refuse(&api, failure);
        (exchange.finish(&api, reply), to)
    }

    /// Runs the request to its answer. `queued` requests with a task of their own wait with long
    /// operations, since their client has many others.
    pub(super) async fn run(self, body: Bytes, queued: bool) -> (Answer, ReturnAddress) {
        let Self { api, mut exchange, request, to } = self;
        let task = request.operation.row().task;
        let lanes = api.engine.lanes().clone();
        let served = async move {
            let result = exchange.run(&api, request, body).await;
            let reply = result.unwrap_or_else(|failure| exchange.refuse(&api, &failure));
            exchange.finish(&api, reply)
        };
        if task == Task::Inline {
            let mut served = std::pin::pin!(served);
            return (lanes.run(served.as_mut()).await, to);
        }
        let spawned = tokio::spawn(async move {
            let mut served = std::pin::pin!(served);
            match queued {
                true => lanes.run_long(served.as_mut()).await,
                false => lanes.run(served.as_mut()).await,
            }
        });
        let answer = spawned.await.unwrap_or_else(|_| {
            let text = "The request ended before it was answered.";
            refusal(&Failure::new(Fault::Internal, text), to.activity)
        });
        (answer, to)
    }
}

/// Returns the answer to a request whose data another node owns: clients read the addresses again.
pub(super) fn elsewhere(head: &RequestHead) -> Answer {
    let text = "Another node owns the data of this database.";
    refusal(&Failure::new(Fault::Elsewhere, text), head.activity)
}

/// Returns an answer without an exchange.
fn refusal(failure: &Failure, activity: [u8; 16]) -> Answer {
    let activity = Activity::Guid(activity).to_string();
    Answer::of_reply(failure_reply(failure, Transport::Direct, &activity, ""))
}
