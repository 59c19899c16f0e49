// Input history: arrow up in the first line recalls earlier inputs, arrow down in the last line
// newer ones and finally the unfinished input. Loaded with its editor.
import type { Extension } from '@codemirror/state';
import { type EditorView, keymap } from '@codemirror/view';

/** Whether the cursor is in the same visual line as a position. */
function isInLineOf(view: EditorView, place: number): boolean {
  const { head } = view.state.selection.main;
  return view.coordsAtPos(head)?.top === view.coordsAtPos(place)?.top;
}

/** `past` is called on each key press; newest first. */
export function recalling(past: () => readonly string[]): Extension {
  /** Index into the history; -1: the unfinished input. */
  let [at, shown, typed] = [-1, '', ''];
  const go = (by: 1 | -1) => (view: EditorView) => {
    const { doc } = view.state;
    if (!isInLineOf(view, by > 0 ? 0 : doc.length)) return false;
    const text = doc.toString();
    if (at < 0 || text !== shown) [at, typed] = [-1, text];
    const others = past().filter((one) => one !== typed);
    const to = at + by;
    if (to < -1 || to >= others.length) return false;
    [at, shown] = [to, others[to] ?? typed];
    view.dispatch({
      changes: { from: 0, to: doc.length, insert: shown },
      selection: { anchor: shown.length },
      userEvent: 'input.recall',
    });
    return true;
  };
  return keymap.of([
    { key: 'ArrowUp', run: go(1) },
    { key: 'ArrowDown', run: go(-1) },
  ]);
}
