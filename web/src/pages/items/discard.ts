// Takes back a discard: the text that was typed comes back as a draft, on the version that it was typed on.
import { readDraft, writeDraft } from '../../state/draft';
import { type Action, warn } from '../../state/log';
import { baseOf } from './drafts';

/** A text that was discarded. */
export interface Discarded {
  /** What its draft is kept under. */
  name: string;
  text: string;
  /** The text that it was typed on; null: it is of a new item. */
  base: string | null;
}

const SECONDS = 20;

/**
 * Returns the action that brings the text back. `show` puts it into the pane that is open, and returns false
 * where another item is open, or none; the draft is then kept for the next time that the item is opened.
 */
export function undoDiscard({ name, text, base }: Discarded, show: () => boolean): Action {
  const onChoose = () => {
    // Typed since: neither text is thrown away without a question.
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
