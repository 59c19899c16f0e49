// The outcome of a run for the history. Pure.
import { ApiError, words } from '../../api/http';
import { counted } from '../../pure/figures/amount';
import { latency } from '../../pure/figures/latency';
import type { Outcome } from './history';
import { problemsOf } from './problem';
import type { ResultPage } from './run';

const KEPT_CHARACTERS = 300;

export function pageOutcome({ results, more, roundTripMs }: ResultPage): Outcome {
  return { kind: 'done', rows: results.rows.length, more, ms: roundTripMs };
}

/** Returns the first sentence of an error message. */
function firstLine(error: unknown): string {
  const said = error instanceof Error ? error.message : words(error);
  const sentence = problemsOf(said, '')[0]?.sentence ?? said;
  const line = (sentence === said ? words(error) : sentence).trim().split('\n')[0] ?? '';
  return line.length > KEPT_CHARACTERS ? `${line.slice(0, KEPT_CHARACTERS)}…` : line;
}

export function failureOutcome(error: unknown, ms: number): Outcome {
  if (error instanceof ApiError && error.kind === 'cancelled') return { kind: 'cancelled', ms };
  return { kind: 'failed', error: firstLine(error), ms };
}

export function outcomeWords(outcome: Outcome): string {
  const took = latency(outcome.ms / 1000);
  if (outcome.kind === 'cancelled') return `Cancelled after ${took}`;
  if (outcome.kind === 'failed') return `Failed after ${took}: ${outcome.error}`;
  const found = counted(outcome.rows, 'result');
  return `${found}${outcome.more ? ' and more' : ''} in ${took}`;
}
