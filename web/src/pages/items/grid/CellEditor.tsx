// The input of a cell that is edited: Enter and Tab save it, Escape cancels. The error is an
// overlay, since a row has only one line.
import { type RefObject, useEffect, useId, useLayoutEffect, useRef } from 'react';
import { titleOf } from '../../../pure/columns/columns';
import type { EditEvents, Editing } from './Line';

/** Distance from the field and from the window's edges, px. */
const GAP = 4;

interface ErrorProps {
  id: string;
  text: string;
  field: RefObject<HTMLInputElement | null>;
}

function CellError({ id, text, field }: ErrorProps) {
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const [shown, over] = [box.current, field.current];
    if (shown === null || over === null) return;
    shown.showPopover();
    const place = () => {
      const { left, top, bottom } = over.getBoundingClientRect();
      const { offsetWidth: width, offsetHeight: height } = shown;
      const isBelow = bottom + height + 2 * GAP <= window.innerHeight;
      const most = window.innerWidth - width - GAP;
      shown.style.left = `${Math.max(GAP, Math.min(left, most))}px`;
      shown.style.top = `${isBelow ? bottom + GAP : top - height - GAP}px`;
    };
    place();
    window.addEventListener('scroll', place, true);
    window.addEventListener('resize', place);
    return () => {
      window.removeEventListener('scroll', place, true);
      window.removeEventListener('resize', place);
    };
  }, [text, field]);
  return (
    <span
      ref={box}
      popover="manual"
      className="items-cell-error error"
      id={id}
      role="alert"
      // Clicking the message must not blur the field.
      onMouseDown={(event) => event.preventDefault()}
    >
      {text}
    </span>
  );
}

export function CellEditor(props: { editing: Editing } & EditEvents) {
  const { editing, onType, onSave, onStep, onLeft, onCancel } = props;
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
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'Enter') onSave();
          else if (event.key === 'Tab') onStep(event.shiftKey ? -1 : 1);
          else if (event.key === 'Escape') onCancel();
          else return;
          event.preventDefault();
        }}
        onBlur={() => {
          // If the whole window loses the focus, editing continues.
          if (document.activeElement !== field.current) onLeft(editing.turn);
        }}
      />
      {editing.error !== null && <CellError id={id} text={editing.error} field={field} />}
    </span>
  );
}
