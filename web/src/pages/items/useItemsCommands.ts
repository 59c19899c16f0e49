// What keys and the palette can do on the page of items.
import { useCommand } from '../../state/commands';
import type { Target } from '../../state/place';
import { focusEditor } from '../../ui/focusEditor';

function toFilter(): void {
  // As long as its editor has not come, it is a plain field.
  const field = document.querySelector<HTMLElement>('.items-filter input');
  if (field?.checkVisibility() === true) field.focus();
  else focusEditor('.items-filter');
}

const toText = () => focusEditor('.items-pane');

export interface Can {
  /** null: nothing can be made. */
  onNew: (() => void) | null;
  /** An item is open beside the grid. */
  isOpen: boolean;
  onRefresh: () => void;
  /** null: nothing is to be counted, or it cannot be. */
  onCount: (() => void) | null;
}

export function useItemsCommands({ door }: Target, can: Can): void {
  const { onNew, isOpen, onRefresh, onCount } = can;
  const noun = door === 'mongo' ? 'document' : 'item';
  useCommand('new-item', `New ${noun}`, onNew);
  useCommand('filter', `Filter ${noun}s`, toFilter);
  useCommand('edit', `Edit the open ${noun}`, isOpen ? toText : null);
  useCommand('refresh', `Refresh the ${noun}s`, onRefresh, 'reload');
  useCommand('count', `Count the matching ${noun}s`, onCount);
}
