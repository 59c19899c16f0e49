// A limit on the length of an editor's text: a change beyond it is refused as a whole.
import { EditorState, type Extension } from '@codemirror/state';

export interface Bound {
  characters: number;
  /** The reason, as the start of a sentence: "The server takes items of at most 2 MB". */
  why: string;
}

/** `bound` is called on each change; `refused` receives the length of a refused one. */
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
