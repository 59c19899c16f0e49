// Sends one request to the server: CSRF token, timeout, console entry, error messages. Knows no
// route.
import { plainMessage } from '../pure/serviceMessage';
import { acted } from '../state/acts';
import { say } from '../state/log';
import { takeAhead } from './ahead';
import { patiently } from './patience';

export type FailureKind = 'network' | 'timeout' | 'cancelled' | 'signed-out' | 'refused';

/** A failed request: refused, timed out, cancelled or unreachable. */
export class ApiError extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly status: number,
    readonly code: string,
    message: string,
    readonly activityId: string | null = null,
  ) {
    super(message);
  }
}

export interface Ask {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal | undefined;
  /** Logged in the console only on failure. */
  quiet?: boolean;
  timeoutMs?: number;
  /** A background request: its failure is not shown, and it is sent even while the page unloads. */
  aside?: boolean;
  /** It changes data on the server, so views of that data reload. */
  changes?: boolean;
  /** Status codes that count as success besides 2xx. */
  also?: number[];
}

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array<ArrayBuffer>;
  text(): string;
  json(): unknown;
}

/** Message for an unreachable server. */
export const SILENT = 'The server is not responding.';

const TIMEOUT_MS = 30_000;
let csrf = '';
let signedOut: () => void = () => {};
let renewToken: () => Promise<unknown> = () => Promise.resolve();

export function setCsrf(token: string): void {
  csrf = token;
}

/** Registers the listener for an ended session. */
export function onSignedOut(listener: () => void): void {
  signedOut = listener;
}

/** Registers the function that renews the CSRF token after a restart of the server. */
export function onStaleToken(renew: () => Promise<unknown>): void {
  renewToken = renew;
}

function headersOf(ask: Ask): Headers {
  const headers = new Headers(ask.headers);
  const method = ask.method ?? 'GET';
  if (method !== 'GET' && method !== 'HEAD') headers.set('x-ebb-csrf', csrf);
  return headers;
}

function cancelled(): ApiError {
  return new ApiError('cancelled', 0, 'Cancelled', 'The request was cancelled.');
}

/** Uses the prefetched response if one exists; if that failed, sends the request. */
function responseTo(path: string, init: RequestInit): Promise<Response> {
  const ahead = init.method === 'GET' ? takeAhead(path, new Headers(init.headers)) : null;
  return ahead === null ? fetch(path, init) : ahead.catch(() => fetch(path, init));
}

async function fetched(ask: Ask): Promise<Answer> {
  const limit = AbortSignal.timeout(ask.timeoutMs ?? TIMEOUT_MS);
  const signal = ask.signal === undefined ? limit : AbortSignal.any([ask.signal, limit]);
  try {
    const init: RequestInit = { method: ask.method ?? 'GET', headers: headersOf(ask), signal };
    if (ask.body !== undefined) init.body = ask.body;
    if (ask.aside === true) init.keepalive = true;
    const response = await responseTo(ask.path, { ...init, credentials: 'same-origin' });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = () => new TextDecoder().decode(bytes);
    const { status, headers } = response;
    return { status, headers, bytes, text, json: () => JSON.parse(text()) as unknown };
  } catch (error) {
    if (ask.signal?.aborted) throw cancelled();
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new ApiError('timeout', 0, 'Timeout', 'The server did not respond in time.');
    }
    throw new ApiError('network', 0, 'Unreachable', SILENT);
  }
}

/** Parses an error: `{code, message}` of the NoSQL API, `{error: {…}}` of the admin address. */
export function refusal(answer: Answer): { code: string; message: string } {
  try {
    const body = answer.json() as { code?: string; message?: string; error?: unknown };
    const inner = (body.error ?? body) as { code?: string; message?: string };
    if (typeof inner.message === 'string') {
      // The NoSQL API appends lines with the activity id to the message.
      const message = inner.message.split(/\r?\nActivityId/)[0] ?? inner.message;
      return { code: inner.code ?? String(answer.status), message };
    }
  } catch {
    // Not JSON.
  }
  const text = answer.text().slice(0, 300).trim();
  return { code: String(answer.status), message: text === '' ? `Status ${answer.status}` : text };
}

function shown(ask: Ask): string {
  return `${ask.method ?? 'GET'} ${ask.path.replace(/^\/_portal\/api/, '')}`;
}

/** Sends a request. Throws `ApiError` for every status but 2xx (and `also`). */
export async function send(ask: Ask): Promise<Answer> {
  const began = performance.now();
  const took = () => Math.round((performance.now() - began) * 10) / 10;
  let answer: Answer;
  try {
    answer = await fetched(ask);
    if (answer.status === 403 && refusal(answer).code === 'Csrf') {
      await renewToken();
      answer = await fetched(ask);
    }
    // A background request does not wait for a retry: its caller repeats it anyway.
    if (ask.aside !== true) answer = await patiently(answer, () => fetched(ask), ask.signal);
  } catch (thrown) {
    const error = ask.signal?.aborted === true ? cancelled() : thrown;
    const isShown = ask.quiet !== true && ask.aside !== true;
    if (error instanceof ApiError && error.kind !== 'cancelled' && isShown) {
      const about = shown(ask);
      say({ kind: 'failed', text: `${about}: ${error.message}`, about, ms: took() });
    }
    throw error;
  }
  const activityId = answer.headers.get('x-ms-activity-id');
  const good = (answer.status >= 200 && answer.status < 300) || ask.also?.includes(answer.status);
  const said = good ? null : refusal(answer);
  if (ask.aside !== true && (ask.quiet !== true || said !== null)) {
    const charge = Number(answer.headers.get('x-ms-request-charge') ?? Number.NaN);
    say({
      kind: said === null ? 'request' : 'failed',
      text: shown(ask) + (said === null ? '' : `: ${plainMessage(said.message)}`),
      about: shown(ask),
      status: answer.status,
      ms: took(),
      ...(activityId === null ? {} : { activityId }),
      ...(Number.isNaN(charge) ? {} : { charge }),
    });
  }
  if (ask.changes === true) acted();
  if (said === null) return answer;
  if (answer.status === 401 && ask.aside !== true) signedOut();
  const kind = answer.status === 401 ? 'signed-out' : 'refused';
  throw new ApiError(kind, answer.status, said.code, said.message, activityId);
}

/** Returns the message to show for a thrown value. */
export function words(error: unknown): string {
  return error instanceof Error ? plainMessage(error.message) : String(error);
}
