// Queries saved for this collection in this browser: open, rename, delete.
import { useState } from 'react';
import { toast } from '../../../state/log';
import { Button } from '../../../ui/Button';
import { shown } from '../history';
import { NameDialog } from './NameDialog';
import { renamedSaved, type Saved, withoutSaved, withSaved } from './saved';

export interface SavedPanelProps {
  saved: readonly Saved[];
  /** Receives an update function of the saved list. */
  onChange: (change: (all: readonly Saved[]) => Saved[]) => void;
  onOpen: (one: Saved) => void;
}

const UNDO_SECONDS = 10;

export function SavedPanel({ saved, onChange, onOpen }: SavedPanelProps) {
  const [renaming, setRenaming] = useState<string | null>(null);
  if (saved.length === 0)
    return <p className="hint">No saved queries for this collection in this browser.</p>;
  const remove = (one: Saved) => {
    onChange((all) => withoutSaved(all, one.name));
    toast({
      text: `Deleted the saved query “${one.name}”.`,
      action: {
        label: 'Undo',
        seconds: UNDO_SECONDS,
        onChoose: () => onChange((all) => withSaved(all, one)),
      },
    });
  };
  return (
    <>
      <ul className="query-history query-saved">
        {saved.map((one) => (
          <li key={one.name}>
            <button type="button" className="query-past" onClick={() => onOpen(one)}>
              <strong>{one.name}</strong>
              <code>{shown(one)}</code>
            </button>
            <Button
              look="quiet"
              aria-label={`Rename ${one.name}`}
              onClick={() => setRenaming(one.name)}
            >
              Rename
            </Button>
            <Button look="quiet" aria-label={`Delete ${one.name}`} onClick={() => remove(one)}>
              Delete
            </Button>
          </li>
        ))}
      </ul>
      {renaming !== null && (
        <NameDialog
          title={`Rename “${renaming}”`}
          initial={renaming}
          action="Rename"
          taken={{
            names: saved.map(({ name }) => name).filter((name) => name !== renaming),
            what: 'It replaces the saved query of this name.',
          }}
          onName={(name) => onChange((all) => renamedSaved(all, renaming, name))}
          onClose={() => setRenaming(null)}
        />
      )}
    </>
  );
}
