// What a move of the clock would make expire, in words, asked for before it is made.
import { useEffect, useState } from 'react';
import { accountSeries } from '../../api/admin';
import { counted } from '../../pure/figures/amount';
import { utc } from '../../pure/time/utc';
import { coveringSteps } from './clock';

const PREVIEW_AFTER_MS = 300;

/** How many documents die when the clock moves by so many seconds, in words; '' : not known. */
export function usePreview(seconds: number | null, now: number): string {
  const [said, say] = useState('');
  useEffect(() => {
    const covering = seconds === null ? null : coveringSteps(seconds);
    say('');
    if (seconds === null || covering === null) return;
    let ended = false;
    const ask = async () => {
      // A server without this forecast is no failure of the move.
      const found = await accountSeries(covering.step, covering.steps).catch(() => null);
      if (ended || found === null) return;
      const documents = found.steps.reduce((sum, step) => sum + step.documents, 0);
      const exact = found.exact && covering.step * covering.steps === seconds;
      say(
        `${exact ? '' : 'About '}${counted(documents, 'document')} of both APIs expire by ${utc(now + seconds * 1000)}.`,
      );
    };
    const timer = setTimeout(() => void ask(), PREVIEW_AFTER_MS);
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [seconds, now]);
  return said;
}
