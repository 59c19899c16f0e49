// What the first page is going to ask, asked before its code is there: on a slow way each question after
// another costs as much as all of them together. Each answer is for the first who asks the same.

const LIMIT_MS = 30_000;
/** What nobody has asked for by then is old. */
const KEPT_MS = 10_000;

interface Asked {
  answer: Promise<Response>;
  headers: Headers;
}

const asked = new Map<string, Asked>();

/** Asks now, for whoever asks for this path first. */
export function askAhead(path: string, headers: Record<string, string> = {}): void {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const answer = fetch(path, { headers, signal, credentials: 'same-origin' });
  asked.set(path, { answer, headers: new Headers(headers) });
  const forget = () => {
    if (asked.get(path)?.answer === answer) asked.delete(path);
  };
  answer.then(() => setTimeout(forget, KEPT_MS), forget);
}

/** The answer to what was asked ahead, once; null: it was not, or its headers asked for less. */
export function takeAhead(path: string, headers = new Headers()): Promise<Response> | null {
  const found = asked.get(path);
  if (found === undefined) return null;
  if ([...headers].some(([name, value]) => found.headers.get(name) !== value)) return null;
  asked.delete(path);
  return found.answer;
}

/** None of them is good for anything. */
export function forgetAhead(): void {
  asked.clear();
}
