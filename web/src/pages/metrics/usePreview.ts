// Describes the expirations of a clock move before it is executed.
import { useEffect, useState } from 'react';
import { utc } from '../../pure/time/utc';
import { tollOf, tollWords } from './toll';

const PREVIEW_AFTER_MS = 300;

/** Returns a sentence about the expirations that a move causes; '': not known. */
export function usePreview(seconds: number | null, now: number): string {
  const [said, say] = useState('');
  useEffect(() => {
    say('');
    if (seconds === null) return;
    let ended = false;
    const ask = async () => {
      const found = await tollOf(seconds);
      if (ended || found === null) return;
      const sentence = `${tollWords(found)} of both APIs expire by ${utc(now + seconds * 1000)}.`;
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
