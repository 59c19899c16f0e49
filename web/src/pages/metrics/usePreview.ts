// What a move of the clock would make expire, in words, asked for before it is made.
import { useEffect, useState } from 'react';
import { accountSeries } from '../../api/admin';
import { counted } from '../../pure/figures/amount';
import { utc } from '../../pure/time/utc';
import { coveringSteps } from './clock';

const PREVIEW_AFTER_MS = 300;

/** How many documents expire when the clock moves by so many seconds, in words; null: not known. */
export async function expiring(seconds: number): Promise<string | null> {
  const covering = coveringSteps(seconds);
  if (covering === null) return null;
  // A server without this forecast is no failure of the move.
  const found = await accountSeries(covering.step, covering.steps).catch(() => null);
  if (found === null) return null;
  const documents = found.steps.reduce((sum, step) => sum + step.documents, 0);
  const exact = found.exact && covering.step * covering.steps === seconds;
  return `${exact ? '' : 'about '}${counted(documents, 'document')}`;
}

/** What a move by so many seconds makes expire, as a sentence; '': not known. */
export function usePreview(seconds: number | null, now: number): string {
  const [said, say] = useState('');
  useEffect(() => {
    say('');
    if (seconds === null) return;
    let ended = false;
    const ask = async () => {
      const found = await expiring(seconds);
      if (ended || found === null) return;
      const sentence = `${found} of both APIs expire by ${utc(now + seconds * 1000)}.`;
      say(sentence.charAt(0).toUpperCase() + sentence.slice(1));
    };
    const timer = setTimeout(() => void ask(), PREVIEW_AFTER_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [seconds, now]);
  return said;
}
