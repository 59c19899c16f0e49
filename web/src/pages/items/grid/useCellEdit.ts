// A cell that is typed over: what is typed, and what comes of it.
import { useCallback, useMemo, useRef, useState } from 'react';
import { words } from '../../../api/http';
import { partsOfPath, valueAtPath } from '../../../pure/values/path';
import type { Row, Source } from '../source';
import { editText, typedValue } from './cellValue';
import type { EditEvents, Editing } from './Line';

export interface CellEdit {
  editing: Editing | null;
  edits: EditEvents;
  begin: (row: Row, column: string) => void;
}

/** Writes a value; a sentence says why it was not written. */
export type SetField = (
  row: Row,
  parts: readonly string[],
  value: unknown,
) => Promise<string | null>;

export function useCellEdit(
  source: Source,
  rows: readonly Row[],
  setField: SetField,
  onEnd: () => void,
): CellEdit {
  const [held, hold] = useState<{ row: Row; editing: Editing } | null>(null);
  const now = useRef({ held, source, rows, setField, onEnd });
  now.current = { held, source, rows, setField, onEnd };
  const put = useCallback((change: Partial<Editing>) => {
    hold((known) => known && { ...known, editing: { ...known.editing, ...change } });
  }, []);
  const end = useCallback(() => {
    hold(null);
    now.current.onEnd();
  }, []);
  const done = useCallback(() => {
    const about = now.current.held;
    if (about === null || about.editing.busy) return;
    const { editing } = about;
    // It may have been read again, because somebody else was faster.
    const row = now.current.rows.find(({ key }) => key === editing.key) ?? about.row;
    const parts = partsOfPath(editing.column);
    const before = valueAtPath(row.value, parts);
    if (editing.text === editText(before)) return end();
    const typed = typedValue(editing.text, before, now.current.source.api);
    if ('error' in typed) return put({ error: typed.error });
    put({ busy: true, error: null });
    now.current.setField(row, parts, typed.value).then(
      (error) => (error === null ? end() : put({ busy: false, error })),
      (error: unknown) => put({ busy: false, error: words(error) }),
    );
  }, [end, put]);
  const edits = useMemo(
    () => ({
      onType: (text: string) => put({ text, error: null }),
      onDone: done,
      onCancel: end,
    }),
    [put, done, end],
  );
  const begin = useCallback((row: Row, column: string) => {
    const text = editText(valueAtPath(row.value, partsOfPath(column)));
    hold({ row, editing: { key: row.key, column, text, error: null, busy: false } });
  }, []);
  return { editing: held?.editing ?? null, edits, begin };
}
