// Creates a collection of the MongoDB API, optionally with a default TTL.
import { useRef, useState } from 'react';
import { draftOf } from '../../pure/ttl/input';
import { createCollection, finishCollection } from './actions';
import { type Chosen, DatabaseChoice, firstChoice, nameOf } from './DatabaseChoice';
import { readAll, readCollection, readMongoDatabase, readTtl } from './definition';
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
  const [ttl, setTtl] = useState(() => draftOf(null));
  // If setting the TTL failed, a retry must not create the collection again.
  const made = useRef('');
  const read = () =>
    readAll({
      inside: () => chosen.existing ?? readMongoDatabase(nameOf(chosen)),
      fresh: () => readCollection(name),
      value: () => readTtl(ttl),
    });
  const send = async ({ inside, fresh, value }: ReturnType<typeof read>) => {
    const key = JSON.stringify([inside, fresh]);
    if (made.current !== key) {
      await createCollection(inside, fresh);
      made.current = key;
    }
    await finishCollection(inside, fresh, value);
  };
  const form = useSubmit(read, send, onClose);
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
      />
      <TtlChoice noun="Documents" draft={ttl} error={form.errorOf('seconds')} onDraft={setTtl} />
    </FormDialog>
  );
}
