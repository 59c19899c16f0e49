// Requests that the server refuses for the moment, saying when to come back: waited for and sent
// again, as SDKs do. Sends nothing itself.
import { createStore } from '../state/store';

/** How often a request is sent again, and how long it waits altogether. */
export const MOST_AGAIN = 9;
export const MOST_WAIT_MS = 30_000;

/** Too many requests, a change at the same time, too little of something: nothing was done yet. */
const FOR_THE_MOMENT: ReadonlySet<number> = new Set([429, 449, 503]);

/** How many requests wait now. */
export const waiting = createStore(0);

interface Refusable {
  status: number;
  headers: Headers;
}

/** After how long to come back, ms; null: it is no refusal for the moment. */
export function comeBackAfter({ status, headers }: Refusable): number | null {
  const named = headers.get('x-ms-retry-after-ms');
  if (!FOR_THE_MOMENT.has(status) || named === null) return null;
  const ms = Number(named);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

/** Ends after `ms`; throws what the signal was aborted with. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

/** The answer to `first`, or to what `again` sent in its place once the server took it. The last
 * refusal, when it was sent or has waited often and long enough. */
export async function patiently<A extends Refusable>(
  first: A,
  again: () => Promise<A>,
  signal?: AbortSignal,
): Promise<A> {
  let answer = first;
  let waited = 0;
  if (comeBackAfter(first) === null) return first;
  waiting.update((n) => n + 1);
  try {
    for (let sent = 0; sent < MOST_AGAIN; sent += 1) {
      const wait = comeBackAfter(answer);
      if (wait === null || waited + wait > MOST_WAIT_MS) break;
      waited += wait;
      await pause(wait, signal);
      answer = await again();
    }
    return answer;
  } finally {
    waiting.update((n) => n - 1);
  }
}
