// Signals that this page changed data on the server; views of that data reload. A burst of changes
// is signalled at once for the first change and at intervals for the rest.
import { createStore } from './store';

const TOGETHER_MS = 2000;

/** Incremented by each signal. */
export const acts = createStore(0);

let timer: ReturnType<typeof setTimeout> | null = null;
let isMore = false;

function tell(): void {
  isMore = false;
  acts.update((n) => n + 1);
  timer = setTimeout(() => {
    timer = null;
    if (isMore) tell();
  }, TOGETHER_MS);
}

/** Reports a change. */
export function acted(): void {
  if (timer === null) tell();
  else isMore = true;
}
