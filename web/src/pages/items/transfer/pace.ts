// Computes rate and remaining time of a long operation. Pure: the caller reads the clock.
import { inWords } from '../../../pure/time/duration';

export interface Mark {
  atMs: number;
  documents: number;
  bytes: number;
}

/** Length of the averaging window. */
const KEPT_MS = 8000;
const LEAST_MS = 500;

/** Adds a mark, and drops those outside the window. */
export function marked(marks: readonly Mark[], mark: Mark): Mark[] {
  return [...marks.filter(({ atMs }) => mark.atMs - atMs <= KEPT_MS), mark];
}

export interface Pace {
  /** Documents per second. */
  rate: number;
  /** Remaining seconds; null: not known. */
  left: number | null;
}

/** Returns the rate from first to last mark; `bytes`: total size if known; null: too early. */
export function paceOf(marks: readonly Mark[], bytes: number | null): Pace | null {
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined || last.atMs - first.atMs < LEAST_MS) return null;
  const seconds = (last.atMs - first.atMs) / 1000;
  const speed = (last.bytes - first.bytes) / seconds;
  const left = bytes === null || speed <= 0 ? null : Math.ceil((bytes - last.bytes) / speed);
  return { rate: Math.round((last.documents - first.documents) / seconds), left };
}

/** "about 3 minutes left". */
export function leftInWords(seconds: number): string {
  const rounded = seconds < 60 ? seconds : Math.round(seconds / 10) * 10;
  return `about ${inWords(Math.max(1, rounded))} left`;
}
