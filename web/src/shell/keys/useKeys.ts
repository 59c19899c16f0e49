// Global handler of the shortcuts in the table. Letters are shortcuts only outside text input, and
// only if the user has not disabled them.
import { useEffect } from 'react';
import { type Does, press } from '../../pure/keys/shortcuts';
import { commands } from '../../state/commands';
import { type Place, parsePlace } from '../../state/place';
import { readPreference, usePreference } from '../../state/preference';
import { go } from '../../state/router';
import { dialogIsOpen } from '../../ui/useSaveKey';
import { overlay } from './overlay';
import { isApple } from './spelling';

/** Maximum delay of the second key of a sequence. */
const NEXT_MS = 1500;
const LETTERS = 'letters';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

/** Non-reactive version of `useLetters`. */
export function areLettersOn(): boolean {
  return readPreference(LETTERS, true, isBoolean);
}

/** Whether letters are shortcuts: users of speech input may disable them. */
export function useLetters(): [boolean, (on: boolean) => void] {
  return usePreference(LETTERS, true, isBoolean);
}

const TYPED_INTO =
  'input:not([type=checkbox], [type=radio], [type=button], [type=submit]), textarea, select, ' +
  '[contenteditable]:not([contenteditable=false]), [role=menu]';

/** Whether a key goes to a text input. Editors are in shadow roots. */
function isTyped(event: KeyboardEvent): boolean {
  return event
    .composedPath()
    .some((element) => element instanceof Element && element.matches(TYPED_INTO));
}

function perform(does: Does, here: Place): boolean {
  switch (does.kind) {
    case 'page':
      go({ page: does.page });
      return true;
    case 'view':
      if (here.page !== 'collection') return false;
      go({ ...here, view: does.view });
      return true;
    case 'open':
      overlay.set({ kind: does.what });
      return true;
    case 'command': {
      const command = commands.get().get(does.name);
      command?.run();
      return command !== undefined;
    }
    case 'told':
      return false;
  }
}

/** Ctrl+K, or ⌘K on Apple keyboards; the other modifier has a meaning in editors. */
function isPaletteKey(event: KeyboardEvent): boolean {
  const [command, other] = isApple
    ? [event.metaKey, event.ctrlKey]
    : [event.ctrlKey, event.metaKey];
  return command && !other && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k';
}

/** Installs the handler; used once by the frame. */
export function useKeys(): void {
  useEffect(() => {
    let held: { keys: string; until: number } | null = null;
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || dialogIsOpen()) return;
      if (isPaletteKey(event)) {
        event.preventDefault();
        overlay.set({ kind: 'palette' });
        return;
      }
      const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!isLetter || isTyped(event) || !areLettersOn()) return;
      // The time of the press: a busy page may handle it later.
      const at = event.timeStamp;
      const before = held !== null && at < held.until ? held.keys : null;
      const found = press(before, event.key);
      held = null;
      if (found === null) return;
      if ('held' in found) held = { keys: found.held, until: at + NEXT_MS };
      // If the command is unavailable, the browser handles the key.
      else if (perform(found.shortcut.does, parsePlace(location.pathname))) event.preventDefault();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
}
