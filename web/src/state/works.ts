// Background work that continues across pages, with its progress.
import { createStore } from './store';

export interface Work {
  id: number;
  /** "Putting back 600 documents". */
  text: string;
  done: number;
  of: number;
}

export const works = createStore<readonly Work[]>([]);

let last = 0;

export interface Reported {
  reach: (done: number) => void;
  end: () => void;
}

/** Shows a work item until `end` is called. */
export function beginWork(text: string, of: number): Reported {
  last += 1;
  const id = last;
  works.update((known) => [...known, { id, text, done: 0, of }]);
  return {
    reach: (done) =>
      works.update((known) => known.map((work) => (work.id === id ? { ...work, done } : work))),
    end: () => works.update((known) => known.filter((work) => work.id !== id)),
  };
}
