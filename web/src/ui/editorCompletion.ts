// Completion while typing: a list that the caller fills. Loaded with the first editor that needs
// it. Independent of languages.
import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  type Completion as Shown,
  selectedCompletion,
  startCompletion,
} from '@codemirror/autocomplete';
import { type Extension, Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import type { Candidate, Completion } from '../pure/completion/candidates';

/** Returns the candidates at a position; null: none. */
export type Offers = (text: string, at: number) => Promise<Completion | null>;

/** After these, candidates are offered before anything is typed. */
const BEGINS = /[.{]\s?$/;
/** After inserting a text that ends in one of these, completion starts again. */
const FOLLOWED = /[.{:]\s?$/;

/** Inserted in front of the cursor; users often type it anyway. */
const COLON = ': ';
/** Position of the inserted colon, and the part of it that typing may still skip. */
const typedOver = new WeakMap<EditorView, { at: number; rest: string }>();

/** Skips over the inserted colon instead of typing a second one. */
const overColon: Extension = [
  EditorView.inputHandler.of((view, from, to, text) => {
    const over = typedOver.get(view);
    if (over === undefined || from !== to || from !== over.at || text === '') return false;
    if (!over.rest.startsWith(text)) return false;
    typedOver.set(view, { at: over.at, rest: over.rest.slice(text.length) });
    return true;
  }),
  EditorView.updateListener.of(({ view, docChanged, selectionSet }) => {
    if (docChanged || selectionSet) typedOver.delete(view);
  }),
];

function put(view: EditorView, one: Candidate, from: number, to: number): void {
  const anchor = from + one.cursor;
  view.dispatch({
    changes: { from, to, insert: one.insert },
    selection: { anchor },
    userEvent: 'input.complete',
    scrollIntoView: true,
  });
  const before = one.insert.slice(0, one.cursor);
  if (before.endsWith(COLON)) typedOver.set(view, { at: anchor, rest: COLON });
  if (FOLLOWED.test(before)) startCompletion(view);
}

function shownOf(one: Candidate): Shown {
  return {
    label: one.label,
    detail: one.detail,
    type: one.kind,
    apply: (view, _, from, to) => put(view, one, from, to),
  };
}

/** Whether an unrequested list would be in the way: Enter has to end the line. */
function isInTheWay(text: string, { from, to, candidates }: Completion): boolean {
  const typed = text.slice(from, to);
  if (typed === '' && candidates[0]?.kind === 'value') return false;
  if (typed === '') return !BEGINS.test(text.slice(Math.max(0, from - 2), from));
  return candidates[0]?.insert.toLowerCase() === typed.toLowerCase();
}

export interface Manner {
  /** No candidate is preselected: Enter has another meaning. */
  isCalm?: boolean;
}

/** Closes the list on a key with another meaning unless a candidate is selected. */
function closeUnchosen(view: EditorView): boolean {
  if (selectedCompletion(view.state) === null) closeCompletion(view);
  return false;
}

/** Ctrl+Space requests candidates; Enter or Tab accepts the selected one; Escape closes. */
export function completing(offers: Offers, { isCalm = false }: Manner = {}): Extension {
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    // Restarts when the user types on. Otherwise an empty result for an earlier position would
    // suppress the request for the current one.
    context.addEventListener('abort', () => {}, { onDocChange: true });
    const text = context.state.doc.toString();
    const offered = await offers(text, context.pos);
    if (offered === null || offered.candidates.length === 0) return null;
    if (!context.explicit && isInTheWay(text, offered)) return null;
    const { from, to, candidates } = offered;
    return { from, to, options: candidates.map(shownOf), filter: false };
  };
  return [
    overColon,
    autocompletion({
      override: [source],
      icons: false,
      maxRenderedOptions: 50,
      selectOnOpen: !isCalm,
    }),
    Prec.highest(
      keymap.of([
        { key: 'Tab', run: acceptCompletion },
        ...(isCalm ? [{ key: 'Enter', run: closeUnchosen }] : []),
      ]),
    ),
  ];
}
