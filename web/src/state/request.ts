// A request of which only the latest counts: a new one takes the place of the one before it, and none
// outlives the component that sent it.
import { useCallback, useEffect, useRef } from 'react';
import { ApiError } from '../api/http';

export interface Request {
  /**
   * Cancels what is under way and asks. `done` or `failed` is called unless the request was cancelled
   * meanwhile; the promise resolves when it has ended, however it did.
   */
  send: <T>(
    ask: (signal: AbortSignal) => Promise<T>,
    done: (value: T) => void,
    failed: (error: unknown) => void,
  ) => Promise<void>;
  /** Nothing comes of what is under way. */
  cancel: () => void;
}

export function useRequest(): Request {
  const running = useRef<AbortController | null>(null);
  const cancel = useCallback(() => {
    running.current?.abort();
    running.current = null;
  }, []);
  const send = useCallback<Request['send']>(
    async (ask, done, failed) => {
      cancel();
      const turn = new AbortController();
      running.current = turn;
      try {
        const value = await ask(turn.signal);
        if (!turn.signal.aborted) done(value);
      } catch (error) {
        const isCancelled = error instanceof ApiError && error.kind === 'cancelled';
        if (!turn.signal.aborted && !isCancelled) failed(error);
      }
    },
    [cancel],
  );
  useEffect(() => cancel, [cancel]);
  return { send, cancel };
}
