// When an editor that contains only `{}` gets the focus, puts the cursor between the braces.
import { EditorView } from '@codemirror/view';

const NOTHING_YET = '{}';

/** A mouse press sets its own position afterwards. */
export const INTO_BRACES = EditorView.domEventHandlers({
  focus: (_, view) => {
    const { doc, readOnly, selection } = view.state;
    if (readOnly || !selection.main.empty || doc.toString() !== NOTHING_YET) return false;
    view.dispatch({ selection: { anchor: 1 } });
    return false;
  },
});
