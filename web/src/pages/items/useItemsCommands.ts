// What keys and the palette can do on the page of items.
import { useCommand } from '../../state/commands';
import type { Target } from '../../state/place';

function toFilter(): void {
  document.querySelector<HTMLElement>('.items-filter input')?.focus();
}

function toText(): void {
  // The editor lies in a tree of its own.
  const host = document.querySelector('.items-pane .editor');
  (host?.shadowRoot ?? host)?.querySelector<HTMLElement>('.cm-content')?.focus();
}

export interface Can {
  /** null: nothing can be made. */
  onNew: (() => void) | null;
  /** An item is open beside the grid. */
  isOpen: boolean;
}

export function useItemsCommands({ door }: Target, { onNew, isOpen }: Can): void {
  const noun = door === 'mongo' ? 'document' : 'item';
  useCommand('new-item', `New ${noun}`, onNew);
  useCommand('filter', `Filter ${noun}s`, toFilter);
  useCommand('edit', `Edit the open ${noun}`, isOpen ? toText : null);
}
