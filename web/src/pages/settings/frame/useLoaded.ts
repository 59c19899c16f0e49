// Loads a value when a page opens, and again after an outage or a move of the clock. The last value
// stays during a reload.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, words } from '../../../api/http';
import { useRequest } from '../../../state/request';
import { useServerChanges } from '../../../state/server';

export interface Loaded<T> {
  value: T | null;
  failure: string | null;
  /** Whether it was deleted. */
  gone: boolean;
  reload: () => Promise<void>;
  /** Sets the value from another response. */
  put: (value: T) => void;
  /** Checks an error of another request; returns whether it means that the value was deleted. */
  notice: (error: unknown) => boolean;
}

/** MongoDB's error code for a missing namespace. */
const NO_NAMESPACE = 26;

function saysGone(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const number = 'number' in error ? error.number : null;
  return number === NO_NAMESPACE || (error.status === 404 && error.code === 'NotFound');
}

interface State<T> {
  value: T | null;
  failure: string | null;
  gone: boolean;
}

export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [state, set] = useState<State<T>>({ value: null, failure: null, gone: false });
  const changes = useServerChanges();
  const latest = useRef(load);
  const { send, cancel } = useRequest();
  latest.current = load;
  const put = useCallback(
    (value: T) => {
      cancel();
      set({ value, failure: null, gone: false });
    },
    [cancel],
  );
  const notice = useCallback((error: unknown) => {
    const gone = saysGone(error);
    if (gone) set((known) => ({ ...known, gone: true }));
    return gone;
  }, []);
  const reload = useCallback(
    () =>
      send(
        () => latest.current(),
        (value) => set({ value, failure: null, gone: false }),
        (error) => set((known) => ({ ...known, failure: words(error), gone: saysGone(error) })),
      ),
    [send],
  );
  useEffect(() => {
    void reload();
  }, [reload, changes]);
  return { ...state, reload, put, notice };
}
