// Letters typed in the tree: they find a line by its name. After a click on a line nobody looks for a
// name, so there they are the shortcuts that they are everywhere else, and so is what no line begins with.
import { useRef } from 'react';
import { press } from '../../pure/keys/shortcuts';
import { areLettersOn } from '../keys/useKeys';
import { type Row, typedTo } from './rows';

const TYPING_MS = 700;
/** The second letter of two comes within this time. */
const NEXT_MS = 1500;

export function useTypedLetters() {
  const typed = useRef({ text: '', until: 0 });
  const passed = useRef({ key: '', until: 0 });
  const isClicked = useRef(false);
  /** Whether a key is a shortcut here, and not the beginning of a name. */
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
    /** A line was clicked, or reached by keys. */
    reached: (byClick: boolean) => {
      isClicked.current = byClick;
    },
    /** The row that a letter leads to; null: the letter is left to others. */
    find: (key: string, rows: readonly Row[], active: number): number | null => {
      const now = performance.now();
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
