// What is typed over a cell: Enter saves it, Escape gives it up.
import { useEffect, useId, useRef } from 'react';
import { titleOf } from '../../../pure/columns/columns';
import type { EditEvents, Editing } from './Line';

export function CellEditor(props: { editing: Editing } & EditEvents) {
  const { editing, onType, onDone, onCancel } = props;
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <span className="items-cell-editor">
      <input
        ref={field}
        className="mono"
        aria-label={`${titleOf(editing.column)} of ${editing.key}`}
        aria-invalid={editing.error !== null}
        aria-describedby={editing.error === null ? undefined : id}
        value={editing.text}
        readOnly={editing.busy}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onType(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Enter') onDone();
          else if (event.key === 'Escape') onCancel();
          else return;
          event.preventDefault();
        }}
      />
      {editing.error !== null && (
        <span className="items-cell-error error" id={id} role="alert">
          {editing.error}
        </span>
      )}
    </span>
  );
}
