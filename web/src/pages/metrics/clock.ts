// Formats the clock's state and parses its moves. Pure.
import type { Status } from '../../api/admin';
import { inWords } from '../../pure/time/duration';

export type ClockState = Status['clock'];

/** Describes the difference between system clock and database clock. */
export function offsetWords(offsetMs: number): string {
  const seconds = Math.abs(offsetMs) / 1000;
  if (seconds < 1) return `${Math.abs(Math.round(offsetMs))} ms, the same second`;
  return `the machine's clock is ${inWords(seconds)} ${offsetMs > 0 ? 'ahead' : 'behind'}`;
}

/** Largest single move: some 292 years, so that every instant stays exact. */
export const MAX_MOVE_SECONDS = 9_223_372_036;

export type Typed = { seconds: number } | { error: string };

/** Parses a typed number of units of `unitSeconds` seconds, rounded to milliseconds. */
export function parseAdvance(text: string, unitSeconds: number): Typed {
  const trimmed = text.trim();
  if (trimmed === '') return { error: 'Enter a number.' };
  if (/^[-+]/.test(trimmed))
    return { error: 'The clock only moves forward: enter a positive number.' };
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(trimmed))
    return { error: `"${trimmed.slice(0, 40)}" is not a number.` };
  const seconds = Math.round(Number(trimmed) * unitSeconds * 1000) / 1000;
  if (seconds === 0) return { error: 'That does not move the clock: enter more than 0.' };
  if (seconds > MAX_MOVE_SECONDS) return { error: 'That is too far ahead.' };
  return { seconds };
}

const LONGEST_STEP = 31_536_000;
const MOST_STEPS = 400;

/** Returns the shortest forecast that covers these seconds; null: too long for any. */
export function coveringSteps(seconds: number): { step: number; steps: number } | null {
  const whole = Math.max(1, Math.ceil(seconds));
  const steps = Math.ceil(whole / LONGEST_STEP);
  if (steps > MOST_STEPS) return null;
  return { step: Math.ceil(whole / steps), steps };
}
