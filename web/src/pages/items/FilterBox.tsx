// The filter in the API's own language. Enter applies it, and the URL keeps it. A plain input until
// the editor with completion has loaded.
import type { EditorView } from '@codemirror/view';
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { bytes } from '../../pure/figures/amount';
import { early } from '../../state/arrival';
import type { Target } from '../../state/place';
import { Button } from '../../ui/Button';
import { CodeEditor } from '../../ui/CodeEditor';
import { MOST_AT_ONCE as MOST_CHARACTERS } from '../../ui/longInput';
import type { RejectedFilter } from './aboutFilter';
import { pastFilters, rememberFilter } from './pastFilters';

const loadHelp = early(() => import('../../ui/completion/editors'));

const BOUND = {
  characters: MOST_CHARACTERS,
  why: `Filters are limited to ${bytes(MOST_CHARACTERS)}`,
};

export interface FilterBoxProps {
  target: Target;
  hint: string;
  example: string;
  value: string;
  error: string | null;
  /** A refused filter, kept for correction while another one is applied; null: none. */
  rejected: RejectedFilter | null;
  /** Returns why a text is not a valid filter, in which case it is not applied; null: valid. */
  check: (filter: string) => string | null;
  /** Completes abbreviated input. */
  complete: (typed: string) => string;
  onApply: (filter: string) => void;
  onLeave: () => void;
}

/** Swaps the plain input for the editor, and keeps the focus and the selection. */
function useSwap() {
  const [isHere, setHere] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const made = useRef<EditorView | null>(null);
  const composes = useRef(false);
  const swap = () => {
    const [view, input] = [made.current, field.current];
    // Swapping now would lose an IME composition.
    if (view === null || input === null || composes.current) return;
    const { selectionStart, selectionEnd, value } = input;
    const isFocused = document.activeElement === input;
    // The editor may lack the latest input.
    const insert = view.state.doc.toString() === value ? null : value;
    if (insert !== null) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
    flushSync(() => setHere(true));
    if (!isFocused) return;
    const most = view.state.doc.length;
    const within = (at: number | null) => Math.min(at ?? most, most);
    view.dispatch({
      selection: { anchor: within(selectionStart), head: within(selectionEnd) },
    });
    view.focus();
  };
  const compositions = {
    onCompositionStart: () => {
      composes.current = true;
    },
    onCompositionEnd: () => {
      composes.current = false;
      swap();
    },
  };
  const onHere = (view: EditorView) => {
    made.current = view;
    swap();
  };
  return { isHere, field, compositions, onHere };
}

export function FilterBox(props: FilterBoxProps) {
  const { target, hint, example, value, error, rejected } = props;
  const { check, complete, onApply, onLeave } = props;
  const id = useId();
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  const [refused, setRefused] = useState<string | null>(null);
  const [corrected, setCorrected] = useState(rejected);
  const { isHere, field, compositions, onHere } = useSwap();
  const said = refused ?? error;
  // The URL changed. The text stays if the filter is the one applied instead of a refused text.
  if (known !== value) {
    setKnown(value);
    if (rejected === null || rejected.applied !== value) setTyped(value);
  }
  if (corrected !== rejected) {
    setCorrected(rejected);
    if (rejected !== null) {
      setTyped(rejected.text);
      setRefused(rejected.why);
    }
  }
  /** Accepts input unless it is too long, in which case the old text stays. */
  const take = (text: string) => {
    if (text.length > MOST_CHARACTERS) refuse(text.length);
    else {
      setRefused(null);
      setTyped(text);
    }
  };
  const refuse = (characters: number) =>
    setRefused(`The pasted text is ${bytes(characters)}. ${BOUND.why}, so it was not inserted.`);
  const apply = () => {
    const text = complete(typed.trim());
    const wrong = check(text);
    setRefused(wrong);
    if (wrong !== null) return;
    setTyped(text);
    rememberFilter(target, text);
    onApply(text);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply();
  };
  const leave = (event: KeyboardEvent) => {
    // An earlier Escape closed the completion list.
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    onLeave();
  };
  return (
    <form
      className="items-filter"
      role="search"
      data-landing=".items-filter-box > input, .items-filter-editor > .editor"
      onSubmit={submit}
      onKeyDown={leave}
    >
      <label className="items-filter-name" htmlFor={id}>
        Filter
      </label>
      <span className="mono items-filter-hint" id={`${id}-hint`}>
        {hint}
      </span>
      <div className="items-filter-box">
        {!isHere && (
          <input
            id={id}
            ref={field}
            className="mono"
            type="text"
            value={typed}
            placeholder={example}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={said !== null}
            aria-describedby={said === null ? `${id}-hint` : `${id}-hint ${id}-error`}
            onChange={(event) => take(event.target.value)}
            // Refuse it before the browser lays out an overlong text.
            onPaste={(event) => {
              const { length } = event.clipboardData.getData('text');
              if (length <= MOST_CHARACTERS) return;
              event.preventDefault();
              refuse(length);
            }}
            {...compositions}
          />
        )}
        <div
          className={
            said === null ? 'items-filter-editor' : 'items-filter-editor items-filter-wrong'
          }
          hidden={!isHere}
        >
          <CodeEditor
            label="Filter"
            language={target.door === 'mongo' ? 'shell' : 'sql'}
            value={typed}
            placeholder={example}
            description={said === null ? hint : `${hint}. ${said}`}
            isWrong={said !== null}
            bound={BOUND}
            onChange={take}
            onRefused={refuse}
            onRun={apply}
            onHere={onHere}
            load={async () => (await loadHelp()).filterHelp(target, () => pastFilters(target))}
            single
          />
        </div>
      </div>
      <Button type="submit" {...(typed === value ? {} : { look: 'primary' as const })}>
        Apply<span className="items-filter-word"> filter</span>
      </Button>
      {(value !== '' || said !== null) && (
        <Button
          look="quiet"
          onClick={() => {
            take('');
            onApply('');
          }}
        >
          Clear
        </Button>
      )}
      {said !== null && (
        <div className="error items-filter-error" id={`${id}-error`} role="alert">
          {said}
        </div>
      )}
    </form>
  );
}
