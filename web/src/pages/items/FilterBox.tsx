// The filter in the door's own language. It is asked for on Enter, and kept in the address. A plain field
// until its editor has come, which completes what is typed.
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
  why: `A filter has at most ${bytes(MOST_CHARACTERS)}`,
};

export interface FilterBoxProps {
  target: Target;
  hint: string;
  example: string;
  value: string;
  error: string | null;
  /** Stays in the box although another filter is applied, so that it can be corrected; null: none. */
  rejected: RejectedFilter | null;
  /** Why a text can be no filter: it is not applied then, and the list stays; null: it can. */
  check: (filter: string) => string | null;
  /** The text with what may be left out of it. */
  complete: (typed: string) => string;
  onApply: (filter: string) => void;
  /** The keyboard leaves it for the list. */
  onLeave: () => void;
}

/** The plain field, and how the editor takes its place where the keyboard is. */
function useSwap() {
  const [isHere, setHere] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const made = useRef<EditorView | null>(null);
  const composes = useRef(false);
  const swap = () => {
    const [view, input] = [made.current, field.current];
    // Letters that are being put together would be lost.
    if (view === null || input === null || composes.current) return;
    const { selectionStart, selectionEnd, value } = input;
    const isFocused = document.activeElement === input;
    // What was typed last may not have come to the editor yet.
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
  // Another filter came by the address, but not the one that is applied instead of a rejected one.
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
  /** Takes what was typed, unless it is too long; then what was there stays. */
  const take = (text: string) => {
    if (text.length > MOST_CHARACTERS) refuse(text.length);
    else {
      setRefused(null);
      setTyped(text);
    }
  };
  const refuse = (characters: number) =>
    setRefused(`That text is ${bytes(characters)}. ${BOUND.why}, so it was not put in.`);
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
    // The first one has closed the list of what is offered.
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
            // Before the browser lays out what is too long.
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
