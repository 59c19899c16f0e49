// Messages before and after bulk changes. Pure.
import { count, counted } from '../../../pure/figures/amount';
import { inWords } from '../../../pure/time/duration';
import type { Source } from '../source';
import { keptSeconds, type Outcome, whyAtOnce } from './many';

type About = Pick<Source, 'noun' | 'defaultTtl' | 'perDocument'>;

export function deletionWords(source: About, n: number): string {
  const [they, are, them] = n === 1 ? ['It', 'is', 'it'] : ['They', 'are', 'them'];
  const why = whyAtOnce(source, n);
  if (why !== null)
    return `${why}: ${they.toLowerCase()} ${are} deleted immediately and cannot be restored.`;
  const leave = n === 1 ? 'leaves' : 'leave';
  const expire = n === 1 ? 'expires' : 'expire';
  return `${they} ${leave} the list immediately and ${expire} within ${inWords(keptSeconds(n))}. Until then Undo restores ${them} and restarts the countdown.`;
}

/** Describes until when a deletion can be undone. A manual clock may never reach that. */
export function keptWords(seconds: number, isManual: boolean): string {
  return isManual ? `once the clock advances ${seconds} s` : `in ${seconds} s`;
}

/** Describes the effect of another `ttl`. */
export function ttlWords(source: About, seconds: number | null, n: number): string {
  const off = source.defaultTtl === null ? ' TTL is off here, so this has no effect.' : '';
  const unheard =
    off === '' && !source.perDocument ? ' Per-document TTL is off, so this has no effect.' : '';
  const what = `${count(n)} ${source.noun}${n === 1 ? '' : 's'}`;
  if (seconds === null) return `${what} will follow the collection's default.${off}`;
  if (seconds === -1) return `${what} will never expire.${off}${unheard}`;
  return `${what} will expire ${inWords(seconds)} from now.${off}${unheard}`;
}

export function touchWords(source: About, n: number): string {
  const restarts = n === 1 ? 'restarts' : 'restart';
  return `The countdown of ${counted(n, source.noun)} ${restarts}; the content does not change.`;
}

const DONE = {
  ttl: 'Set ttl of',
  touch: 'Restarted the countdown of',
  delete: 'Deleted',
  field: 'Changed a field of',
  back: 'Restored',
} as const;

export function outcomeWords(source: About, kind: keyof typeof DONE, outcome: Outcome): string {
  const { done, same, gone, theirs, failed } = outcome;
  const said = [`${DONE[kind]} ${counted(done.length, source.noun)}`];
  if (same.length > 0)
    said.push(`${count(same.length)} ${same.length === 1 ? 'was' : 'were'} unchanged`);
  if (gone.length > 0) said.push(`${count(gone.length)} no longer existed`);
  if (theirs.length > 0) said.push(`${count(theirs.length)} changed by others, left unchanged`);
  if (failed.count > 0) said.push(`${count(failed.count)} failed: ${failed.why}`);
  return said.join('; ');
}
