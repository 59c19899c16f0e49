// Work that goes on whatever page of the portal is shown: what it is, and how far it has come.
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
  /** So many are done. */
  reach: (done: number) => void;
  end: () => void;
}

/** Shows a work from now until its end. */
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
