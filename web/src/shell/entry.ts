// Whether somebody has come in since the page was loaded. A session that ends by itself leaves the
// page as it is; signing out clears it.
import { closeAll } from '../api/mongo';
import { signOut } from '../api/session';
import { mayEnd } from '../state/router';
import { createStore } from '../state/store';

export const inside = createStore(false);

export function enter(): void {
  inside.set(true);
}

/** Back to the page for signing in. */
export function leave(): void {
  inside.set(false);
}

/** Signs out, unless there is something unsaved that is to stay. */
export async function signOutAndLeave(): Promise<void> {
  if (!mayEnd()) return;
  // Who has signed out may close nothing.
  await closeAll();
  await signOut();
  leave();
}
