// Deletes all documents of a collection after its name is typed. Settings and indexes stay.
import { useState } from 'react';
import type { Target } from '../../state/place';
import { FormDialog } from '../create/FormDialog';
import { TextField } from '../create/TextField';
import { useSubmit } from '../create/useSubmit';
import { noun } from '../dialogs';
import { heldInWords, useHolds } from './useHolds';
import { useStop } from './useStop';
import { Working } from './Working';

export function Empty({ target, onClose }: { target: Target; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [done, setDone] = useState(0);
  const holds = useHolds(target);
  const begin = useStop();
  const what = noun(target.door);
  // MongoDB's single delete command cannot be cancelled; deleting items one by one can.
  const stops = target.door === 'nosql';
  const form = useSubmit(
    () => undefined,
    async () => {
      const { empty } = await import('./empty');
      await empty(target, begin(), setDone);
    },
    onClose,
  );
  return (
    <FormDialog
      title={`Empty ${what}`}
      action={`Delete all ${stops ? 'items' : 'documents'}`}
      danger
      blocked={typed !== target.collection}
      cancel={form.busy ? (stops ? 'Stop' : 'Close') : 'Cancel'}
      form={form}
      onClose={onClose}
    >
      <p>
        <strong>{heldInWords(holds, target)}</strong> of the {what}{' '}
        <strong className="name">{target.collection}</strong> will be deleted, including those
        written in the meantime. This cannot be undone. The {what}, its{' '}
        {stops ? 'partition key, indexing policy' : 'indexes'} and time to live are kept.
      </p>
      <TextField
        label={`Type the name of the ${what} to confirm`}
        value={typed}
        onChange={setTyped}
      />
      {form.busy && stops && (
        <Working verb="Deleted" done={done} all={holds?.live.documents ?? null} />
      )}
    </FormDialog>
  );
}
