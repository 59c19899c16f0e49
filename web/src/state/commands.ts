// What the page that is shown can be told to do by a key or by the palette: each page registers its own
// commands while it is there. The frame knows them by name and nothing of what they do.
import { useEffect, useRef } from 'react';
import { createStore } from './store';

/** `filter` puts the cursor into the filter; `edit` into the text of the open item; `count` counts what matches. */
export type CommandName = 'new-item' | 'filter' | 'edit' | 'refresh' | 'count';

export interface Command {
  /** What the palette calls it. */
  label: string;
  /** Other words that find it. */
  also?: string;
  run: () => void;
}

export const commands = createStore<ReadonlyMap<CommandName, Command>>(new Map());

/** Registers a command as long as the component is there; `run` null: it cannot be done now. */
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
