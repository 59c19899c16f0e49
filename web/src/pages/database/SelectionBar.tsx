// Actions on the collections selected in the list.
import { counted } from '../../pure/figures/amount';
import { dialog, noun } from '../../shell/dialogs';
import type { Door } from '../../state/place';
import { Button } from '../../ui/Button';

/** Limit of a bulk change: the dialog computes the effect for each and has a row for each. */
const MOST = 500;

export interface SelectionBarProps {
  door: Door;
  database: string;
  names: readonly string[];
  onClear: () => void;
}

export function SelectionBar({ door, database, names, onClear }: SelectionBarProps) {
  return (
    <div className="database-selection" role="toolbar" aria-label="Selection">
      <strong>{counted(names.length, noun(door))} selected</strong>
      <Button
        disabled={names.length > MOST}
        title={names.length > MOST ? `At most ${MOST} at a time` : undefined}
        onClick={() => dialog.set({ kind: 'defaults', several: { door, database, names } })}
      >
        Set default TTL…
      </Button>
      <Button look="quiet" onClick={onClear}>
        Clear selection
      </Button>
    </div>
  );
}
