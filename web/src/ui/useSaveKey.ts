// Ctrl+S, or Cmd+S, on a page that has something to save. The browser's own dialog never opens there.
import { useEffect, useRef } from 'react';

export function dialogIsOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

/** `save` null: there is nothing to save now. */
export function useSaveKey(save: (() => void) | null): void {
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isSave =
        (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 's';
      // An editor may have taken it, with what was typed last.
      if (!isSave || event.defaultPrevented) return;
      event.preventDefault();
      if (!dialogIsOpen()) latest.current?.();
    };
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
}
