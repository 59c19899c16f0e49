// What can be done with everything that fits the filter, whether it is loaded or not.
import { useState } from 'react';
import { Button } from '../../../ui/Button';
import { Menu } from '../../../ui/Menu';
import { READ_ONLY } from '../source';
import type { ManyActions } from './useMany';

/** What is listed is not all that fits. */
const NARROWED = 'Show leaves rows out: choose all there, or select rows in the list';

export interface AllMenuProps {
  many: ManyActions;
  writable: boolean;
  /** Rows that fit are not listed. */
  isNarrowed: boolean;
}

export function AllMenu({ many, writable, isNarrowed }: AllMenuProps) {
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
        All that fit…
      </Button>
      {at !== null && (
        <Menu
          label="All that fit"
          at={at}
          items={[
            { label: 'Set ttl of all…', onChoose: () => many.ask('ttl', null) },
            { label: 'Change a field of all…', onChoose: () => many.ask('field', null) },
            { label: 'Restart all countdowns…', onChoose: () => many.ask('touch', null) },
            { label: 'Delete all…', onChoose: () => many.ask('delete', null), danger: true },
          ]}
          onClose={() => setAt(null)}
        />
      )}
    </>
  );
}
