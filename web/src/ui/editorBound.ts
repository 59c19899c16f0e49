// A bound on the length of an editor's text: a change beyond it is refused whole, and what was there
// stays.
import { EditorState, type Extension } from '@codemirror/state';

export interface Bound {
  /** Most characters. */
  characters: number;
  /** Why, as the beginning of a sentence: "The server takes items of at most 2 MB". */
  why: string;
}

/** `bound` is looked at when it is needed; `refused` hears how many characters a change would add. */
export function bounded(
  bound: () => Bound | undefined,
  refused: (characters: number) => void,
): Extension {
  return EditorState.transactionFilter.of((transaction) => {
    const most = bound()?.characters ?? Infinity;
    if (!transaction.docChanged) return transaction;
    const [before, after] = [transaction.startState.doc.length, transaction.newDoc.length];
    if (after <= most || after <= before) return transaction;
    queueMicrotask(() => refused(after - before));
    return [];
  });
}
