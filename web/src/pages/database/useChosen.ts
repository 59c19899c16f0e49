// The selected collections that still exist and match the filter.
import { useMemo, useState } from 'react';

export interface Chosen {
  names: readonly string[];
  has: (name: string) => boolean;
  toggle: (name: string) => void;
  /** Selects all listed collections, or none if all are selected. */
  toggleAll: () => void;
  clear: () => void;
}

const NOBODY: ReadonlySet<string> = new Set();

export function useChosen(listed: readonly string[]): Chosen {
  const [held, hold] = useState(NOBODY);
  const names = useMemo(() => listed.filter((name) => held.has(name)), [listed, held]);
  return {
    names,
    has: (name) => held.has(name),
    toggle: (name) => {
      const next = new Set(names);
      if (!next.delete(name)) next.add(name);
      hold(next);
    },
    toggleAll: () => hold(names.length === listed.length ? NOBODY : new Set(listed)),
    clear: () => hold(NOBODY),
  };
}
