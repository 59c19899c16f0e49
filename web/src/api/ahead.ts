// What the first page is going to ask, asked before its code is there: on a slow way each question after
// another costs as much as all of them together. Each answer is for the first who asks the same.

const LIMIT_MS = 30_000;
/** What nobody has asked for by then is old. */
const KEPT_MS = 10_000;

const asked = new Map<string, Promise<Response>>();

/** Asks now, for whoever asks for this path first. */
export function askAhead(path: string, headers: Record<string, string> = {}): void {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const answer = fetch(path, { headers, signal, credentials: 'same-origin' });
  asked.set(path, answer);
  const forget = () => {
    if (asked.get(path) === answer) asked.delete(path);
  };
  answer.then(() => setTimeout(forget, KEPT_MS), forget);
}

/** The answer to what was asked ahead, once; null: it was not. */
export function takeAhead(path: string): Promise<Response> | null {
  const answer = asked.get(path) ?? null;
  asked.delete(path);
  return answer;
}

/** None of them is good for anything. */
export function forgetAhead(): void {
  asked.clear();
}
