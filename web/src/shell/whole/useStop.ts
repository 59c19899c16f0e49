// Stops what a dialog began when the dialog is closed.
import { useEffect, useRef } from 'react';

export function useStop(): () => AbortSignal {
  const turn = useRef<AbortController | null>(null);
  useEffect(() => () => turn.current?.abort(), []);
  return () => {
    turn.current = new AbortController();
    return turn.current.signal;
  };
}
