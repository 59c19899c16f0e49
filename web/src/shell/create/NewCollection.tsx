// Makes a collection of the MongoDB door, with a default time to live if wanted.
import { useRef, useState } from 'react';
import { createCollection, finishCollection } from './actions';
import { type Chosen, DatabaseChoice, firstChoice, nameOf } from './DatabaseChoice';
import { type TtlChoice as Choice, FormError, readTtl } from './definition';
import { FormDialog } from './FormDialog';
import { TextField } from './TextField';
import { TtlChoice } from './TtlChoice';
import { useSubmit } from './useSubmit';

export interface NewCollectionProps {
  database: string | null;
  onClose: () => void;
}

export function NewCollection({ database, onClose }: NewCollectionProps) {
  const [chosen, choose] = useState<Chosen>(() => firstChoice('mongo', database));
  const [name, setName] = useState('');
  const [ttl, setTtl] = useState<{ choice: Choice; seconds: string }>({
    choice: 'off',
    seconds: '',
  });
  // A collection that was made before its time to live was refused is not made again.
  const made = useRef('');
  const form = useSubmit(async () => {
    const inside = nameOf(chosen);
    if (inside === '') throw new FormError('database', 'Give the database a name.');
    if (name === '') throw new FormError('name', 'Give the collection a name.');
    const value = readTtl(ttl.choice, ttl.seconds);
    const key = JSON.stringify([inside, name]);
    if (made.current !== key) {
      await createCollection(inside, name);
      made.current = key;
    }
    await finishCollection(inside, name, value);
  }, onClose);
  return (
    <FormDialog title="New collection" action="Create" form={form} onClose={onClose}>
      <DatabaseChoice
        door="mongo"
        chosen={chosen}
        error={form.errorOf('database')}
        onChange={choose}
      />
      <TextField
        label="Collection name"
        error={form.errorOf('name')}
        value={name}
        onChange={setName}
        autoFocus
      />
      <TtlChoice
        noun="Documents"
        choice={ttl.choice}
        seconds={ttl.seconds}
        error={form.errorOf('seconds')}
        onChange={(choice, seconds) => setTtl({ choice, seconds })}
      />
    </FormDialog>
  );
}
