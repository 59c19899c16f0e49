// What keys and the palette can do on the page of items.
import { useCommand } from '../../state/commands';
import type { Target } from '../../state/place';

/** The text of an editor lies in a tree of its own. */
function toEditor(within: string): void {
  const host = document.querySelector(`${within} .editor`);
  host?.shadowRoot?.querySelector<HTMLElement>('.cm-content')?.focus();
}

function toFilter(): void {
  // As long as its editor has not come, it is a plain field.
  const field = document.querySelector<HTMLElement>('.items-filter input');
  if (field?.checkVisibility() === true) field.focus();
  else toEditor('.items-filter');
}

const toText = () => toEditor('.items-pane');

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
