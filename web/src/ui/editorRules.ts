// An editor extension that marks errors. Loaded with the first editor that needs it.
import { type Diagnostic, linter } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';

export interface EditorRules {
  /** Returns the error and its position; null: none. Called shortly after typing. */
  check: (text: string) => { message: string; at: number } | null;
  /** Length above which texts are not checked. */
  checked: number;
}

/** `rules` is read on each check, so it may change. */
export function editorRules(rules: { current: EditorRules }): Extension {
  return linter(
    ({ state }): Diagnostic[] => {
      if (state.doc.length > rules.current.checked) return [];
      const error = rules.current.check(state.doc.toString());
      if (error === null) return [];
      const from = Math.min(error.at, Math.max(0, state.doc.length - 1));
      const to = Math.min(state.doc.length, from + 1);
      return [{ from, to, severity: 'error', message: error.message }];
    },
    { delay: 300 },
  );
}
