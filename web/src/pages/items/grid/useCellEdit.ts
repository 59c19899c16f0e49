// State of an edited cell: the typed text, leaving it, and saving. Typed text is never discarded
// silently, except by Escape.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { titleOf } from '../../../pure/columns/columns';
import type { Api } from '../../../pure/values/compare';
import { partsOfPath, valueAtPath } from '../../../pure/values/path';
import { warn } from '../../../state/log';
import type { Row, Source } from '../source';
import { editText, type Typed, typedValue } from './cellValue';
import type { EditEvents, Editing } from './Line';

export interface CellEdit {
  editing: Editing | null;
  edits: EditEvents;
  begin: (row: Row, column: string) => void;
  end: () => void;
}

/** The result of a write; `again`: the same may be written over the current value. */
export type Wrote = { row: Row } | { error: string; again: boolean };

export type SetField = (row: Row, parts: readonly string[], value: unknown) => Promise<Wrote>;

export interface CellEvents {
  setField: SetField;
  /** Editing ended by the keyboard. */
  onEnd: () => void;
  /** Moves to an adjacent cell of the row: 1 next, -1 previous. */
  onStep: (from: Editing, by: 1 | -1) => void;
}

interface Held {
  row: Row;
  editing: Editing;
}

const MOST_CHARACTERS = 200;

/** Returns the typed value; null: unchanged. */
function wanted({ row, editing }: Held, api: Api): Typed | null {
  const before = valueAtPath(row.value, partsOfPath(editing.column));
  return editing.text === editText(before) ? null : typedValue(editing.text, before, api);
}

function giveUp({ row, editing }: Held, why: string): void {
  const isLong = editing.text.length > MOST_CHARACTERS;
  const typed = isLong ? `${editing.text.slice(0, MOST_CHARACTERS)}…` : editing.text;
  warn(`${titleOf(editing.column)} of ${row.name} was not changed: ${why} Your input: ${typed}`);
}

/** Serializes writes: each is conditional on the result of the previous one. */
function useWriting(rows: readonly Row[], setField: SetField) {
  const now = useRef({ rows, setField });
  now.current = { rows, setField };
  const last = useRef<Promise<Wrote> | null>(null);
  return useCallback(({ row, editing }: Held, value: unknown): Promise<Wrote> => {
    const before = last.current;
    const write = async (): Promise<Wrote> => {
      const left = await before;
      const newest =
        left !== null && 'row' in left && left.row.key === row.key
          ? left.row
          : now.current.rows.find(({ key }) => key === row.key);
      const { setField } = now.current;
      return setField(newest ?? row, partsOfPath(editing.column), value);
    };
    const work = write()
      .catch((error: unknown) => ({ error: words(error), again: false }))
      .finally(() => {
        if (last.current === work) last.current = null;
      });
    last.current = work;
    return work;
  }, []);
}

export function useCellEdit(
  source: Source,
  rows: readonly Row[],
  { setField, onEnd, onStep }: CellEvents,
): CellEdit {
  const [held, setHeld] = useState<Held | null>(null);
  const now = useRef({ held, rows, api: source.api, onEnd, onStep });
  now.current = { held, rows, api: source.api, onEnd, onStep };
  const write = useWriting(rows, setField);
  // Set the ref at once: the blur event arrives before the next render.
  const hold = useCallback((next: Held | null) => {
    now.current.held = next;
    setHeld(next);
  }, []);
  const put = useCallback(
    (about: Held, change: Partial<Editing>) =>
      hold({ ...about, editing: { ...about.editing, ...change } }),
    [hold],
  );
  const end = useCallback(() => {
    hold(null);
    now.current.onEnd();
  }, [hold]);
  /** Returns the edited cell with its latest row, which a conflict may have reloaded. */
  const about = useCallback((): Held | null => {
    const { held: known, rows: listed } = now.current;
    const row = listed.find(({ key }) => key === known?.editing.key);
    return known === null || row === undefined ? known : { ...known, row };
  }, []);
  const leave = useCallback(
    (cell: Held, value: unknown) =>
      void write(cell, value).then((wrote) => {
        if ('error' in wrote) giveUp(cell, wrote.error);
      }),
    [write],
  );
  const save = useCallback(() => {
    const cell = about();
    if (cell === null || cell.editing.busy) return;
    const found = wanted(cell, now.current.api);
    if (found === null) return end();
    if ('error' in found) return put(cell, { error: found.error });
    put(cell, { busy: true, error: null });
    const isThere = () =>
      now.current.held?.editing.turn === cell.editing.turn ? now.current.held : null;
    void write(cell, found.value).then((wrote) => {
      const known = isThere();
      if ('row' in wrote) {
        if (known !== null) end();
      } else if (known === null) giveUp(cell, wrote.error);
      else {
        const error = wrote.again ? `${wrote.error} Press Enter to overwrite it.` : wrote.error;
        put(known, { busy: false, error });
      }
    });
  }, [about, end, put, write]);
  const step = useCallback(
    (by: 1 | -1) => {
      const cell = about();
      if (cell === null || cell.editing.busy) return;
      const found = wanted(cell, now.current.api);
      if (found !== null && 'error' in found) return put(cell, { error: found.error });
      now.current.onStep(cell.editing, by);
      if (found !== null) leave(cell, found.value);
    },
    [about, put, leave],
  );
  const left = useCallback(
    (turn: number) => {
      const cell = about();
      if (cell?.editing.turn !== turn) return;
      hold(null);
      const found = cell.editing.busy ? null : wanted(cell, now.current.api);
      if (found === null) return;
      if ('error' in found) giveUp(cell, found.error);
      else leave(cell, found.value);
    },
    [about, hold, leave],
  );
  useEffect(() => {
    if (held === null || rows.some(({ key }) => key === held.row.key)) return;
    hold(null);
    if (wanted(held, now.current.api) !== null) giveUp(held, 'it is no longer in the list.');
  }, [held, rows, hold]);
  const edits = useMemo<EditEvents>(
    () => ({
      onType: (text) => {
        const known = now.current.held;
        if (known !== null) put(known, { text, error: null });
      },
      onSave: save,
      onStep: step,
      onLeft: left,
      onCancel: end,
    }),
    [put, save, step, left, end],
  );
  const turn = useRef(0);
  const begin = useCallback(
    (row: Row, column: string) => {
      turn.current += 1;
      const text = editText(valueAtPath(row.value, partsOfPath(column)));
      const editing = { key: row.key, column, text, error: null, busy: false, turn: turn.current };
      hold({ row, editing });
    },
    [hold],
  );
  return { editing: held?.editing ?? null, edits, begin, end };
}
