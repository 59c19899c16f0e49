// Commands of the current page for keys and the command palette. Each page registers its own while
// it is mounted; the frame knows only their names.
import { useEffect, useRef } from 'react';
import { createStore } from './store';

/** `filter` and `edit` move the focus; `count` counts matching documents. */
export type CommandName = 'new-item' | 'filter' | 'edit' | 'refresh' | 'count';

export interface Command {
  label: string;
  /** Search terms besides the label. */
  also?: string;
  run: () => void;
}

export const commands = createStore<ReadonlyMap<CommandName, Command>>(new Map());

/** Registers a command while the component is mounted; `run` null: unavailable now. */
export function useCommand(
  name: CommandName,
  label: string,
  run: (() => void) | null,
  also = '',
): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const can = run !== null;
  useEffect(() => {
    if (!can) return;
    const made: Command = { label, also, run: () => latest.current?.() };
    commands.update((known) => new Map(known).set(name, made));
    return () =>
      commands.update((known) => {
        if (known.get(name) !== made) return known;
        const rest = new Map(known);
        rest.delete(name);
        return rest;
      });
  }, [name, label, also, can]);
}
