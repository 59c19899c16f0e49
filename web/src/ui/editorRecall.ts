// Arrow up in the first line of an editor brings back what was applied before, arrow down in the last one
// goes on to what is newer, and in the end to what was being typed. Loaded with the editor that has it.
import type { Extension } from '@codemirror/state';
import { type EditorView, keymap } from '@codemirror/view';

/** Whether the cursor is in the line at this place, as lines are drawn. */
function isInLineOf(view: EditorView, place: number): boolean {
  const { head } = view.state.selection.main;
  return view.coordsAtPos(head)?.top === view.coordsAtPos(place)?.top;
}

/** `past` is asked when a key is pressed; the newest stands first. */
export function recalling(past: () => readonly string[]): Extension {
  /** How far back it went; -1: what is being typed. */
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
