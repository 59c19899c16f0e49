// Renames a collection. Container ids cannot be changed.
import { useState } from 'react';
import type { Target } from '../../state/place';
import { usePlace } from '../../state/router';
import { renameCollection } from '../create/actions';
import { FormError, readCollection } from '../create/definition';
import { FormDialog } from '../create/FormDialog';
import { TextField } from '../create/TextField';
import { useSubmit } from '../create/useSubmit';

export function Rename({ target, onClose }: { target: Target; onClose: () => void }) {
  const { place } = usePlace();
  const [name, setName] = useState(target.collection);
  const read = () => {
    const fresh = readCollection(name);
    if (fresh === target.collection)
      throw new FormError('name', 'The collection already has this name.');
    return fresh;
  };
  const form = useSubmit(read, (fresh) => renameCollection(place, target, fresh), onClose);
  return (
    <FormDialog title="Rename collection" action="Rename" form={form} onClose={onClose}>
      <p>
        Documents, indexes and time to live of <strong className="name">{target.collection}</strong>{' '}
        do not change, and countdowns continue. Programs that use the old name will not find the
        collection.
      </p>
      <TextField label="New name" error={form.errorOf('name')} value={name} onChange={setName} />
    </FormDialog>
  );
}
