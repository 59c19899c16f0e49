// Messages about a request on the open item that got no response, while the server is unreachable
// and after it is back. Pure.
import { ApiError } from '../../api/http';

/** A save of the text, or a change of the item's expiry. */
export type Asked = 'save' | 'change';

export interface Lost {
  asked: Asked;
  /** The user stopped waiting. */
  stopped: boolean;
  /** Time of `performance.now()`. */
  at: number;
}

export interface Reached {
  silentSince: number | null;
  /** Time of its last response, of `performance.now()`. */
  readAt: number;
}

/** Also returned by a server that is starting, or while one of its parts is out of capacity. */
const UNAVAILABLE = 503;

/** Returns the lost request; null: it got a response or was never sent. */
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

/** Returns whether the server has responded to anything since. */
export function isBack(lost: Lost, { silentSince, readAt }: Reached): boolean {
  return silentSince === null && readAt > lost.at;
}

export function lostWords({ asked, stopped }: Lost, back: boolean): string {
  if (back) return `The server is back: ${asked === 'save' ? 'save' : 'try'} again.`;
  const what = asked === 'save' ? 'save' : 'change';
  const happened = stopped
    ? `The ${what} was stopped before the server responded, so it may or may not have been applied.`
    : `The server did not respond to the ${what}, so it was probably not applied.`;
  return asked === 'save' ? `${happened} Your text is kept.` : happened;
}
