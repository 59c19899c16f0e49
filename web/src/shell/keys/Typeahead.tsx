// Collects keystrokes for the palette while its code is loading.
import { useLayoutEffect } from 'react';
import { overlay } from './overlay';

function pressed(event: KeyboardEvent): void {
  const shown = overlay.get();
  if (shown?.kind !== 'palette' || event.ctrlKey || event.metaKey || event.altKey) return;
  const { typed = '' } = shown;
  if (event.key === 'Escape') overlay.set(null);
  else if (event.key === 'Backspace') overlay.set({ ...shown, typed: typed.slice(0, -1) });
  else if (event.key.length === 1) overlay.set({ ...shown, typed: typed + event.key });
  // Enter must not act on a list that is not visible yet.
  else if (event.key !== 'Enter') return;
  event.preventDefault();
  event.stopPropagation();
}

export function Typeahead() {
  useLayoutEffect(() => {
    window.addEventListener('keydown', pressed, true);
    return () => window.removeEventListener('keydown', pressed, true);
  }, []);
  return null;
}
