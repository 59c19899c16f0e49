// A request about the open item to which no answer came: what is said of it while the server is away,
// and when it is back. Pure.
import { ApiError } from '../../api/http';

/** A save of the text, or a change of the item's life beside it. */
export type Asked = 'save' | 'change';

export interface Lost {
  asked: Asked;
  /** Who asked has stopped waiting for the answer. */
  stopped: boolean;
  /** Of `performance.now()`. */
  at: number;
}

/** What is known of the server. */
export interface Reached {
  silentSince: number | null;
  /** When it answered last, of `performance.now()`. */
  readAt: number;
}

/** A server that is being opened answers with this, as it does where one part of it is full. */
const UNAVAILABLE = 503;

/** null: there was an answer, or it was never sent. */
export function lostOf(
  error: unknown,
  asked: Asked,
  { silentSince }: Reached,
  at: number,
): Lost | null {
  if (!(error instanceof ApiError)) return null;
  const stopped = error.kind === 'cancelled';
  const isSilent = error.kind === 'network' || error.kind === 'timeout';
  const isOpening = error.status === UNAVAILABLE && silentSince !== null;
  return stopped || isSilent || isOpening ? { asked, stopped, at } : null;
}

/** Whether the server has answered anything since. */
export function isBack(lost: Lost, { silentSince, readAt }: Reached): boolean {
  return silentSince === null && readAt > lost.at;
}

export function lostWords({ asked, stopped }: Lost, back: boolean): string {
  if (back) return `The server is back: ${asked === 'save' ? 'save' : 'do it'} again.`;
  const what = asked === 'save' ? 'save' : 'change';
  const happened = stopped
    ? `The ${what} was stopped before an answer came, so it may have been done or not.`
    : `No answer came to the ${what}: it was not done, as far as is known.`;
  return asked === 'save' ? `${happened} What was typed is kept.` : happened;
}
