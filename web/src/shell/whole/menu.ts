// Actions on a whole collection, for menus and the palette.
import type { Target } from '../../state/place';
import type { MenuItem } from '../../ui/Menu';
import { type Asked, dialog, noun } from '../dialogs';

/** Returns the dialogs for a whole collection with their labels; containers cannot be renamed. */
export function wholeActs({ door }: Target): { label: string; kind: WholeKind }[] {
  return [
    ...(door === 'mongo' ? [{ label: 'Rename…', kind: 'rename' as const }] : []),
    { label: 'Duplicate…', kind: 'duplicate' },
    { label: 'Empty…', kind: 'empty' },
    { label: `Delete ${noun(door)}`, kind: 'delete-collection' },
  ];
}

export type WholeKind = Extract<Asked, { target: Target }>['kind'];

const DESTROYING: ReadonlySet<WholeKind> = new Set(['empty', 'delete-collection']);

/** `reason`: why all of them are disabled. */
export function wholeItems(target: Target, reason: string | null): MenuItem[] {
  return wholeActs(target).map(({ label, kind }) => ({
    label,
    onChoose: () => dialog.set({ kind, target }),
    reason,
    danger: DESTROYING.has(kind),
  }));
}
