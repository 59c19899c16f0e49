// What an editor offers while somebody types: a list that what is asked for fills. Loaded with the first
// editor that offers something. Knows no language.
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

/** What can stand at a place of a text; null: nothing is offered there. */
export type Offers = (text: string, at: number) => Promise<Completion | null>;

/** Behind these something is offered before anything is typed. */
const BEGINS = /[.{]\s?$/;
/** Behind these, where they were put in, it is asked for what can follow. */
const FOLLOWED = /[.{:]\s?$/;

/** What was put in before the cursor and is often typed all the same: a colon and a space. */
const COLON = ': ';
/** Where, and what of it may still be typed over. */
const typedOver = new WeakMap<EditorView, { at: number; rest: string }>();

/** Types over the colon that a completion has put in, instead of writing a second one. */
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

/** Whether a list that nobody has asked for would be in the way: Enter has to end the line. */
function isInTheWay(text: string, { from, to, candidates }: Completion): boolean {
  const typed = text.slice(from, to);
  if (typed === '' && candidates[0]?.kind === 'value') return false;
  if (typed === '') return !BEGINS.test(text.slice(Math.max(0, from - 2), from));
  return candidates[0]?.insert.toLowerCase() === typed.toLowerCase();
}

export interface Manner {
  /** Nothing is chosen until an arrow key or the mouse does: Enter is for something else. */
  isCalm?: boolean;
}

/** The list goes where Enter does something else than to take what is chosen. */
function closeUnchosen(view: EditorView): boolean {
  if (selectedCompletion(view.state) === null) closeCompletion(view);
  return false;
}

/** Ctrl+Space asks; Enter or Tab takes what is chosen; Escape closes the list. */
export function completing(offers: Offers, { isCalm = false }: Manner = {}): Extension {
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    // Begins anew when somebody types on. Otherwise nothing would be asked for where they are now, once
    // it was found that nothing is offered where they were.
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
