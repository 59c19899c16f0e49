// Something read from the server when a page opens, and again after a silence or a moved clock. What
// was read last stays while it is read again.
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, words } from '../../../api/http';
import { useRequest } from '../../../state/request';
import { useServerChanges } from '../../../state/server';

export interface Loaded<T> {
  value: T | null;
  failure: string | null;
  /** It is not there any more. */
  gone: boolean;
  reload: () => Promise<void>;
  /** What is known of it now, from an answer to something else. */
  put: (value: T) => void;
  /** A failure of another request about it: answers whether that says that it is gone. */
  notice: (error: unknown) => boolean;
}

/** MongoDB's number for a namespace that is not there. */
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
