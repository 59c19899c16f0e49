// An answer that is loaded after a pause when its question changes, and again after an outage or a move
// of the clock. A new request cancels the previous one.
import { useEffect, useRef, useState } from 'react';
import { useRequest } from './request';
import { useServerChanges } from './server';

export type Unanswered = { kind: 'none' } | { kind: 'asking' };

const PAUSE_MS = 300;

/**
 * Returns the answer to the question that `key` identifies (null: no question), and a function that
 * replaces it. `load` also resolves on failure. After a move of the clock the answer to the same
 * question stays until the new one arrives: without it the save button is disabled, and a click at
 * that moment would be lost.
 */
export function useRenewed<Answer>(
  key: string | null,
  load: (signal: AbortSignal) => Promise<Answer>,
): [Unanswered | Answer, (answer: Answer) => void] {
  const changes = useServerChanges();
  const [answer, set] = useState<Unanswered | Answer>({ kind: 'none' });
  const { send, cancel } = useRequest();
  const asked = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the question.
  useEffect(() => {
    const isSame = asked.current === key;
    asked.current = key;
    if (key === null) {
      set({ kind: 'none' });
      return;
    }
    if (!isSame) set({ kind: 'asking' });
    const ask = () => send(load, set, () => {});
    const timer = setTimeout(() => void ask(), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      cancel();
    };
  }, [key, changes, send, cancel]);
  return [answer, set];
}
