// One signal: this page has changed what the server has. Whatever is shown of that listens, and is asked
// again. Many changes in a row are told of as the first and, every while, the others together.
import { createStore } from './store';

const TOGETHER_MS = 2000;

/** Grows with each signal. */
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

/** Something was changed. */
export function acted(): void {
  if (timer === null) tell();
  else isMore = true;
}
