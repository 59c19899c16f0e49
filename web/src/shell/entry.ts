// Whether the user has logged in since the page was loaded. An expired session leaves the page as
// it is; logout clears it.
import { closeAll } from '../api/mongo';
import { signOut } from '../api/session';
import { mayEnd } from '../state/router';
import { createStore } from '../state/store';

export const inside = createStore(false);

export function enter(): void {
  inside.set(true);
}

export function leave(): void {
  inside.set(false);
}

/** Logs out unless the user keeps unsaved changes. */
export async function signOutAndLeave(): Promise<void> {
  if (!mayEnd()) return;
  // Cursors cannot be closed after logout.
  await closeAll();
  await signOut();
  leave();
}
