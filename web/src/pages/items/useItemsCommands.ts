// Commands of keys and palette on the items page.
import { useCommand } from '../../state/commands';
import type { Target } from '../../state/place';
import { focusEditor } from '../../ui/focusEditor';

function toFilter(): void {
  // A plain input until the editor has loaded.
  const field = document.querySelector<HTMLElement>('.items-filter input');
  if (field?.checkVisibility() === true) field.focus();
  else focusEditor('.items-filter');
}

const toText = () => focusEditor('.items-pane');

export interface Can {
  /** null: creation is unavailable. */
  onNew: (() => void) | null;
  /** Whether an item is open in the pane. */
  isOpen: boolean;
  onRefresh: () => void;
  /** null: counting is unnecessary or impossible. */
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
