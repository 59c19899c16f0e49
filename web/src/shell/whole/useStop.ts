// Cancels a dialog's operation when the dialog closes.
import { useEffect, useRef } from 'react';

export function useStop(): () => AbortSignal {
  const turn = useRef<AbortController | null>(null);
  useEffect(() => () => turn.current?.abort(), []);
  return () => {
    turn.current = new AbortController();
    return turn.current.signal;
  };
}
