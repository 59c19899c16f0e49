// What can be done with the collections that are selected in the list of their database.
import { counted } from '../../pure/figures/amount';
import { dialog, noun } from '../../shell/dialogs';
import type { Door } from '../../state/place';
import { Button } from '../../ui/Button';

/** The effect is worked out for each before, and each has a line in the dialog. */
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
        title={names.length > MOST ? `At most ${MOST} at once` : undefined}
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
