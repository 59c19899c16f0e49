//! Requests in direct mode from their admission to their answers.

use std::{pin::Pin, sync::Arc};

use bytes::Bytes;

use super::{
    executor::Executor,
    forwarding::{ForwardedAnswer, Outcome, OutgoingFrame},
    output::Output,
    reply_frame::ReturnAddress,
};
use crate::{
    exchange::{Activity, Answer, Exchange, failure_reply},
    failure::{Failure, Fault},
    interrupt::{Client, StopOnDrop, answer_before_stop},
    operation::Task,
    request::Request,
    transport::Transport,
};

/// The future of a request, which yields its answer.
pub(super) type Running = Pin<Box<dyn Future<Output = (Answer, ReturnAddress)> + Send>>;

/// A request whose body may still arrive.
pub(super) enum Waiting {
    Here(Box<Admitted>),
    /// A request that another process authorizes and executes.
    Elsewhere(Box<OutgoingFrame>),
}

/// A request that was admitted by an API in this process.
pub(super) struct Admitted {
    pub(super) executor: Executor,
    pub(super) client: Arc<Client>,
    pub(super) exchange: Exchange,
    pub(super) request: Request,
    pub(super) to: ReturnAddress,
}

impl Waiting {
    pub(super) fn max_body_bytes(&self) -> usize {
        match self {
            Self::Here(admitted) => admitted.executor.api.settings.max_body_bytes,
            Self::Elsewhere(frame) => frame.max_body_bytes,
        }
    }

    /// Reserves memory for the body that arrives.
    pub(super) fn reserve_body(&mut self, bytes: usize) -> Result<(), memory::InsufficientMemory> {
        match self {
            Self::Here(admitted) => admitted.exchange.held().set(bytes),
            Self::Elsewhere(frame) => frame.reserve_body(bytes),
        }
    }

    /// Returns the answer to the request if its body is not received.
    pub(super) fn refuse(self, failure: &Failure) -> (Answer, ReturnAddress) {
        match self {
            Self::Here(admitted) => {
                let Admitted { executor, exchange, to, .. } = *admitted;
                let reply = exchange.refuse(&executor.api, failure);
                (exchange.finish(&executor.api, reply), to)
            }
            Self::Elsewhere(frame) => (refusal(failure, frame.to.activity), frame.to),
        }
    }
}

impl Admitted {
    /// Runs the request to its answer. `queued` requests with a task of their own wait with long
    /// operations, since their client has many others.
    pub(super) fn run(self, body: Bytes, queued: bool) -> Running {
        let Some(stopping) = self.executor.stopping.clone() else {
            return Box::pin(self.run_to_end(body, queued));
        };
        let client = Arc::clone(&self.client);
        Box::pin(async move {
            // The client of a single request; those of other executors are not cancelled with it.
            let _presence = StopOnDrop(Arc::clone(&client));
            answer_before_stop(&client, stopping, self.run_to_end(body, queued)).await
        })
    }

    async fn run_to_end(self, body: Bytes, queued: bool) -> (Answer, ReturnAddress) {
        let Self { executor, mut exchange, request, to, .. } = self;
        let api = executor.api;
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
pub(super) fn elsewhere(activity: [u8; 16]) -> Answer {
    let text = "Another node owns the data of this database.";
    refusal(&Failure::new(Fault::Elsewhere, text), activity)
}

/// Writes the answer to a forwarded request.
pub(super) fn push_forwarded(output: &mut Output, answer: ForwardedAnswer) {
    match answer.outcome {
        Outcome::Answered { frame, body, .. } => output.write(|out| {
            out.extend_from_slice(&frame);
            body
        }),
        Outcome::Failed(failure) => {
            output.push(refusal(&failure, answer.to.activity), answer.to);
        }
    }
}

/// Returns an answer without an exchange.
pub(super) fn refusal(failure: &Failure, activity: [u8; 16]) -> Answer {
    let activity = Activity::Guid(activity).to_string();
    Answer::of_reply(failure_reply(failure, Transport::Direct, &activity, ""))
}
