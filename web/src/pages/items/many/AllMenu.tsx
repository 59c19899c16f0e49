// Actions on all documents that match the filter, loaded or not.
import { useState } from 'react';
import { Button } from '../../../ui/Button';
import { Menu, type MenuItem } from '../../../ui/Menu';
import { READ_ONLY } from '../source';
import type { ManyActions } from './useMany';

/** Reason while the quick filter hides matching rows. */
const NARROWED = '“Show” hides some rows: set it to “all” or select rows in the list';

export interface AllMenuProps {
  many: ManyActions;
  writable: boolean;
  /** Whether matching rows are hidden. */
  isNarrowed: boolean;
}

/** Returns the actions, each with the reason why it is disabled. */
export function allItems({ many, writable, isNarrowed }: AllMenuProps): MenuItem[] {
  const reason = writable ? (isNarrowed ? NARROWED : null) : READ_ONLY;
  return [
    { label: 'Set ttl of all…', reason, onChoose: () => many.ask('ttl', null) },
    { label: 'Change a field of all…', reason, onChoose: () => many.ask('field', null) },
    { label: 'Restart all countdowns…', reason, onChoose: () => many.ask('touch', null) },
    { label: 'Delete all…', reason, onChoose: () => many.ask('delete', null), danger: true },
  ];
}

export function AllMenu(props: AllMenuProps) {
  const { writable, isNarrowed } = props;
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  return (
    <>
      <Button
        disabled={!writable || isNarrowed}
        title={writable ? (isNarrowed ? NARROWED : undefined) : READ_ONLY}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setAt({ x: box.left, y: box.bottom + 2 });
        }}
      >
        All matching…
      </Button>
      {at !== null && (
        <Menu label="All matching" at={at} items={allItems(props)} onClose={() => setAt(null)} />
      )}
    </>
  );
}
