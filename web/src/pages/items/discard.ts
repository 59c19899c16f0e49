// Undoes a discard: the typed text is restored as a draft of the version that it was typed on.
import { readDraft, writeDraft } from '../../state/draft';
import { type Action, warn } from '../../state/log';
import { baseOf } from './drafts';

export interface Discarded {
  /** Name of its draft. */
  name: string;
  text: string;
  /** The version that was edited; null: a new item. */
  base: string | null;
}

const SECONDS = 20;

/**
 * Returns the undo action. `show` puts the text into the open pane; it returns false if another
 * item or none is open, and the draft is then kept until the item is opened.
 */
export function undoDiscard({ name, text, base }: Discarded, show: () => boolean): Action {
  const onChoose = () => {
    // Edited since: neither text may be lost silently.
    if (readDraft(name) !== null) {
      warn('The discarded text was not restored, because the item has been edited since.');
      return;
    }
    if (show()) return;
    writeDraft(name, text);
    writeDraft(baseOf(name), base);
  };
  return { label: 'Undo', onChoose, seconds: SECONDS, minor: true };
}
