// Retries requests that the server refuses temporarily with a retry delay, as SDKs do. Does no I/O
// itself.
import { createStore } from '../state/store';

/** Maximum number of retries, and maximum total wait. */
export const MOST_AGAIN = 9;
export const MOST_WAIT_MS = 30_000;

/** Statuses of refusals before execution: throttled, concurrent change, out of a resource. */
const FOR_THE_MOMENT: ReadonlySet<number> = new Set([429, 449, 503]);

/** Number of requests that wait for a retry. */
export const waiting = createStore(0);

interface Refusable {
  status: number;
  headers: Headers;
}

/** Returns the retry delay in ms; null if the response is not a temporary refusal. */
export function comeBackAfter({ status, headers }: Refusable): number | null {
  const named = headers.get('x-ms-retry-after-ms');
  if (!FOR_THE_MOMENT.has(status) || named === null) return null;
  const ms = Number(named);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

/** Waits `ms`; throws the signal's reason if it is aborted. */
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

/**
 * Retries while the response is a temporary refusal. Returns the first other response, or the last
 * refusal once the limits are reached.
 */
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
