// Handles Ctrl+S, or Cmd+S, on a page with something to save. The browser's save dialog never opens
// there.
import { useEffect, useRef } from 'react';

export function dialogIsOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

/** `save` null: nothing to save now. */
export function useSaveKey(save: (() => void) | null): void {
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isSave =
        (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 's';
      // An editor may have handled it, with the latest text.
      if (!isSave || event.defaultPrevented) return;
      event.preventDefault();
      if (!dialogIsOpen()) latest.current?.();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
}
