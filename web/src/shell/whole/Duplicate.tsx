// Copies a collection under a new name: settings, indexes, and documents.
import { useState } from 'react';
import type { Forecast } from '../../api/admin';
import { ttlWords } from '../../pages/database/Line';
import type { Target } from '../../state/place';
import { FormError, readCollection, readId } from '../create/definition';
import { FormDialog } from '../create/FormDialog';
import { TextField } from '../create/TextField';
import { useSubmit } from '../create/useSubmit';
import { noun } from '../dialogs';
import { heldInWords, useHolds } from './useHolds';
import { useStop } from './useStop';
import { Working } from './Working';

/** Describes the effect on the remaining time to live of the copies. */
function ageInWords(holds: Forecast | null): string {
  if (holds === null) return 'Countdowns from the last write restart.';
  const said =
    holds.default === null
      ? 'Time to live is off, and stays off'
      : `Time to live stays “${ttlWords(holds.default)}”, and countdowns restart, since each copy is a new write (_ts)`;
  const dates = holds.date_indexes > 0 ? '; deadlines by date indexes do not change' : '';
  return `${said}${dates}.`;
}

const CARRIED = {
  mongo: 'all indexes with their options',
  nosql:
    'partition key, indexing policy, unique keys, conflict resolution, change feed policy and throughput',
} as const;

export function Duplicate({ target, onClose }: { target: Target; onClose: () => void }) {
  const { door, collection } = target;
  const [name, setName] = useState(`${collection}-copy`);
  const [done, setDone] = useState(0);
  const holds = useHolds(target);
  const begin = useStop();
  const what = noun(door);
  const read = () => {
    const fresh =
      door === 'mongo' ? readCollection(name) : readId('name', `id of the ${what}`, name);
    if (fresh === collection) throw new FormError('name', 'The copy needs a different name.');
    return fresh;
  };
  const send = async (fresh: string) => {
    const { duplicate } = await import('./duplicate');
    await duplicate(target, fresh, begin(), setDone);
  };
  const form = useSubmit(read, send, onClose);
  return (
    <FormDialog
      title={`Duplicate ${what}`}
      action="Duplicate"
      cancel={form.busy ? 'Stop' : 'Cancel'}
      form={form}
      onClose={onClose}
    >
      <p>
        The copy of <strong className="name">{collection}</strong> includes {CARRIED[door]}, and{' '}
        <strong>{heldInWords(holds, target)}</strong>.
      </p>
      <p>{ageInWords(holds)} Concurrent writes may be missing from the copy.</p>
      <TextField
        label={door === 'mongo' ? 'Name of the copy' : 'Id of the copy'}
        error={form.errorOf('name')}
        value={name}
        onChange={setName}
      />
      {form.busy && <Working verb="Copied" done={done} all={holds?.live.documents ?? null} />}
    </FormDialog>
  );
}
