// The table of keyboard shortcuts, with the texts of the help sheet. The pages handle shortcuts of
// kind `told` themselves; they are listed only for the sheet. Pure.

type View = 'items' | 'schema' | 'query' | 'settings' | 'metrics';

export type Does =
  | { kind: 'view'; view: View }
  | { kind: 'page'; page: 'home' | 'metrics' | 'features' }
  | { kind: 'command'; name: 'new-item' | 'filter' | 'edit' }
  | { kind: 'open'; what: 'palette' | 'sheet' }
  | { kind: 'told' };

export interface Shortcut {
  /** Key sequence as shown on the sheet: "g i", "Ctrl+K". */
  keys: string;
  /** Alternative keys. */
  also?: string;
  what: string;
  group: 'Everywhere' | 'Go to' | 'Items' | 'Editors' | 'Tree';
  does: Does;
}

const told: Does = { kind: 'told' };
const view = (shown: View): Does => ({
  kind: 'view',
  view: shown,
});

export const SHORTCUTS: readonly Shortcut[] = [
  {
    keys: 'Ctrl+K',
    what: 'Search databases, collections, pages and actions',
    group: 'Everywhere',
    does: { kind: 'open', what: 'palette' },
  },
  {
    keys: '?',
    what: 'Show these keys',
    group: 'Everywhere',
    does: { kind: 'open', what: 'sheet' },
  },
  { keys: 'Ctrl+S', what: 'Save the item or the settings', group: 'Everywhere', does: told },
  { keys: 'Esc', what: 'Close the open dialog or pane', group: 'Everywhere', does: told },
  { keys: 'g i', what: 'Items', group: 'Go to', does: view('items') },
  { keys: 'g c', what: 'Schema', group: 'Go to', does: view('schema') },
  { keys: 'g q', what: 'Query', group: 'Go to', does: view('query') },
  { keys: 'g s', what: 'Settings', group: 'Go to', does: view('settings') },
  { keys: 'g m', what: 'Metrics', group: 'Go to', does: view('metrics') },
  { keys: 'g h', what: 'Home', group: 'Go to', does: { kind: 'page', page: 'home' } },
  { keys: 'g f', what: 'Features', group: 'Go to', does: { kind: 'page', page: 'features' } },
  { keys: '/', what: 'Filter', group: 'Items', does: { kind: 'command', name: 'filter' } },
  { keys: 'n', what: 'New item', group: 'Items', does: { kind: 'command', name: 'new-item' } },
  {
    keys: 'e',
    what: 'Edit the open item',
    group: 'Items',
    does: { kind: 'command', name: 'edit' },
  },
  { keys: 'Enter', what: 'Open the row with the keyboard', group: 'Items', does: told },
  { keys: '←', also: '→', what: 'Move between the cells of a row', group: 'Items', does: told },
  { keys: 'F2', also: 'Enter', what: 'Edit the cell', group: 'Items', does: told },
  { keys: 'Tab', what: 'Save the cell and edit the next', group: 'Items', does: told },
  {
    keys: 'Shift+Tab',
    what: 'Save the cell and edit the previous one',
    group: 'Items',
    does: told,
  },
  { keys: 'Ctrl+Enter', what: 'Execute the query', group: 'Editors', does: told },
  { keys: 'Esc Tab', what: 'Leave an editor', group: 'Editors', does: told },
  { keys: '↓', also: '↑', what: 'Move between rows', group: 'Tree', does: told },
  { keys: 'Home', also: 'End', what: 'Go to the first or the last row', group: 'Tree', does: told },
  { keys: '→', also: '←', what: 'Open or close a database', group: 'Tree', does: told },
  {
    keys: 'Enter',
    also: 'Space',
    what: 'Open the database or collection',
    group: 'Tree',
    does: told,
  },
  {
    keys: 'a…z',
    what: 'Jump to a name',
    group: 'Tree',
    does: told,
  },
  { keys: 'Shift+F10', what: 'Actions of a row', group: 'Tree', does: told },
  { keys: 'Delete', what: 'Delete (asks first)', group: 'Tree', does: told },
];

/** Result of a key: a shortcut, the start of one, or nothing. */
export type Pressed = { shortcut: Shortcut } | { held: string } | null;

/** Looks up a key. `held`: the previous key of a sequence. Keys with Ctrl are handled elsewhere. */
export function press(held: string | null, key: string): Pressed {
  const typed = held === null ? key : `${held} ${key}`;
  const found = SHORTCUTS.find(({ keys, does }) => keys === typed && does.kind !== 'told');
  if (found !== undefined) return { shortcut: found };
  if (SHORTCUTS.some(({ keys }) => keys.startsWith(`${typed} `) && key.length === 1))
    return { held: typed };
  // A wrong second key may start another shortcut.
  return held === null ? null : press(null, key);
}

/** Returns the shortcuts by group, in the table's order. */
export function grouped(): [group: Shortcut['group'], shortcuts: Shortcut[]][] {
  const names = [...new Set(SHORTCUTS.map(({ group }) => group))];
  return names.map((name) => [name, SHORTCUTS.filter(({ group }) => group === name)]);
}
