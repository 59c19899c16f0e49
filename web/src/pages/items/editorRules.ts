// What the editor of an item has beside its language: marks at errors, and a bound on its length.
import { type Diagnostic, linter } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import type { Check } from './source';
import { CHECKED_CHARACTERS, MOST_CHARACTERS } from './textSize';

export interface EditorRules {
  check: (text: string) => Check;
  /** A change was refused that would make the text so long. */
  onTooLong: (characters: number) => void;
}

/** `rules` is looked at when it is needed, so it may change. */
export function editorRules(rules: { current: EditorRules }): Extension {
  const bound = EditorState.transactionFilter.of((transaction) => {
    if (!transaction.docChanged) return transaction;
    const length = transaction.newDoc.length;
    if (length <= MOST_CHARACTERS || length <= transaction.startState.doc.length) return transaction;
    queueMicrotask(() => rules.current.onTooLong(length - transaction.startState.doc.length));
    return [];
  });
  const marks = linter(
    ({ state }): Diagnostic[] => {
      if (state.doc.length > CHECKED_CHARACTERS) return [];
      const { error } = rules.current.check(state.doc.toString());
      if (error === null) return [];
      const from = Math.min(error.at, Math.max(0, state.doc.length - 1));
      const to = Math.min(state.doc.length, from + 1);
      return [{ from, to, severity: 'error', message: error.message }];
    },
    { delay: 300 },
  );
  return [bound, marks];
}
