// Who is signed in, and what the account is like.
import { createStore } from '../state/store';
import { askAhead, forgetAhead } from './ahead';
import { onSignedOut, onStaleToken, send, setCsrf } from './http';

export interface Session {
  login: 'open' | 'required';
  right: 'write' | 'read' | null;
  csrf: string;
  version: string;
  doors: { mongo: string | null; cosmos: string | null };
  /** Whether clients of a door have to speak TLS. */
  needsTls: { mongo: boolean; cosmos: boolean };
  /** Whether anyone who reaches the address of a door may read and write there. */
  openToAll: { mongo: boolean; cosmos: boolean };
  key: string | null;
}

/** `null`: not asked yet. */
export const session = createStore<Session | null>(null);

function keep(made: Session): Session {
  setCsrf(made.csrf);
  // Whoever is not signed in was refused all of it.
  if (made.right === null) forgetAhead();
  session.set(made);
  return made;
}

const PATH = '/_portal/api/session';

/** Asks who is signed in before anything is there that wants to know. */
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

/** Whether the session may change anything. */
export function mayWrite(known: Session | null): boolean {
  return known?.right === 'write';
}
