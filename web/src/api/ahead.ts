// Prefetches requests of the first page before its code has loaded: on a slow connection a chain of
// round trips dominates the load time. Each response is used by the first matching request only.

const LIMIT_MS = 30_000;
/** Age at which an unused response is discarded. */
const KEPT_MS = 10_000;

interface Asked {
  answer: Promise<Response>;
  headers: Headers;
}

const asked = new Map<string, Asked>();

/** Sends a GET now; the first request for this path takes its response. */
export function askAhead(path: string, headers: Record<string, string> = {}): void {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const answer = fetch(path, { headers, signal, credentials: 'same-origin' });
  asked.set(path, { answer, headers: new Headers(headers) });
  const forget = () => {
    if (asked.get(path)?.answer === answer) asked.delete(path);
  };
  answer.then(() => setTimeout(forget, KEPT_MS), forget);
}

/** Returns the prefetched response, once; null if none was requested or the headers differ. */
export function takeAhead(path: string, headers = new Headers()): Promise<Response> | null {
  const found = asked.get(path);
  if (found === undefined) return null;
  if ([...headers].some(([name, value]) => found.headers.get(name) !== value)) return null;
  asked.delete(path);
  return found.answer;
}

/** Discards all prefetched responses. */
export function forgetAhead(): void {
  asked.clear();
}
