// The keyboard comes into a text that is nothing but `{}`: what is typed goes between its braces.
import { EditorView } from '@codemirror/view';

const NOTHING_YET = '{}';

/** A press of the mouse chooses its own place afterwards. */
export const INTO_BRACES = EditorView.domEventHandlers({
  focus: (_, view) => {
    const { doc, readOnly, selection } = view.state;
    if (readOnly || !selection.main.empty || doc.toString() !== NOTHING_YET) return false;
    view.dispatch({ selection: { anchor: 1 } });
    return false;
  },
});
