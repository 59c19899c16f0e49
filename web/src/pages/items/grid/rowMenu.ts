// The context menu of a row.
import type { MenuItem } from '../../../ui/Menu';
import { READ_ONLY } from '../source';

export interface RowMenu {
  writable: boolean;
  isSelected: boolean;
  /** null: the whole row. */
  column: string | null;
  /** null: the cell cannot be edited; `whyNot` is the reason. */
  edit: (() => void) | null;
  whyNot: string | null;
  onOpen: () => void;
  onCopyCell: () => void;
  onCopyRow: () => void;
  onDuplicate: () => void;
  onSelect: () => void;
  onDelete: () => void;
}

export function rowMenu(of: RowMenu): MenuItem[] {
  const why = of.writable ? null : READ_ONLY;
  const cell: MenuItem[] =
    of.column === null
      ? []
      : [
          { label: 'Copy cell', onChoose: of.onCopyCell },
          { label: 'Edit cell', onChoose: of.edit ?? of.onOpen, reason: of.whyNot },
        ];
  return [
    { label: 'Open', onChoose: of.onOpen },
    ...cell,
    { label: 'Copy as JSON', onChoose: of.onCopyRow },
    { label: 'Duplicate', onChoose: of.onDuplicate, reason: why },
    { label: of.isSelected ? 'Deselect' : 'Select', onChoose: of.onSelect },
    { label: 'Delete…', onChoose: of.onDelete, reason: why, danger: true },
  ];
}
