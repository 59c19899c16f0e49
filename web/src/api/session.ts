// The session with its user, and properties of the account.
import { createStore } from '../state/store';
import { askAhead, forgetAhead } from './ahead';
import { onSignedOut, onStaleToken, send, setCsrf } from './http';

export interface Session {
  login: 'open' | 'required';
  right: 'write' | 'read' | null;
  csrf: string;
  version: string;
  doors: { mongo: string | null; cosmos: string | null };
  /** Whether an API requires TLS. */
  needsTls: { mongo: boolean; cosmos: boolean };
  /** Whether an API permits reads and writes without authentication. */
  openToAll: { mongo: boolean; cosmos: boolean };
  key: string | null;
}

/** `null`: not loaded yet. */
export const session = createStore<Session | null>(null);

function keep(made: Session): Session {
  setCsrf(made.csrf);
  // Without a login all prefetched requests were refused.
  if (made.right === null) forgetAhead();
  session.set(made);
  return made;
}

const PATH = '/_portal/api/session';

/** Prefetches the session. */
export function aheadOfSession(): void {
  askAhead(PATH);
}

export async function loadSession(): Promise<Session> {
  return keep((await send({ path: PATH, quiet: true })).json() as Session);
}

export async function signIn(key: string): Promise<Session> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ key });
  return keep((await send({ method: 'POST', path: PATH, headers, body })).json() as Session);
}

export async function signOut(): Promise<void> {
  await send({ method: 'DELETE', path: PATH });
  await loadSession();
}

onStaleToken(loadSession);

onSignedOut(() => {
  const known = session.get();
  if (known !== null && known.right !== null) session.set({ ...known, right: null, key: null });
});

export function mayWrite(known: Session | null): boolean {
  return known?.right === 'write';
}
