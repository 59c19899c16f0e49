// Typeahead in the tree. After a click on a row, letters are shortcuts as elsewhere, and so are
// letters that match no row.
import { useRef } from 'react';
import { press } from '../../pure/keys/shortcuts';
import { areLettersOn } from '../keys/useKeys';
import { type Row, typedTo } from './rows';

const TYPING_MS = 700;
/** Maximum delay of the next letter. */
const NEXT_MS = 1500;

export function useTypedLetters() {
  const typed = useRef({ text: '', until: 0 });
  const passed = useRef({ key: '', until: 0 });
  const isClicked = useRef(false);
  /** Whether a key is a shortcut and not the start of a name. */
  const isShortcut = (key: string, now: number) => {
    const before = now < passed.current.until ? passed.current.key : null;
    if (!isClicked.current && before === null) return false;
    if (now < typed.current.until || !areLettersOn()) return false;
    const found = press(before, key);
    passed.current =
      found !== null && 'held' in found ? { key, until: now + NEXT_MS } : { key: '', until: 0 };
    return found !== null;
  };
  return {
    /** Called when a row is clicked or reached by keys. */
    reached: (byClick: boolean) => {
      isClicked.current = byClick;
    },
    /**
     * Returns the matching row; null: the key is left to other handlers. `now`: the time of the
     * press, which a busy page may handle later.
     */
    find: (key: string, rows: readonly Row[], active: number, now: number): number | null => {
      if (isShortcut(key, now)) return null;
      const text = now < typed.current.until ? typed.current.text + key : key;
      const to = typedTo(rows, active, text);
      if (to === null && text.length === 1) {
        passed.current = { key, until: now + NEXT_MS };
        return null;
      }
      typed.current = { text, until: now + TYPING_MS };
      return to ?? active;
    },
  };
}
