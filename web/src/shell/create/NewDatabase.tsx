// Makes a database. Behind the MongoDB door one begins with its first collection.
import { useState } from 'react';
import { session } from '../../api/session';
import type { Door } from '../../state/place';
import { useStore } from '../../state/store';
import { DOOR_NAMES } from '../dialogs';
import { createCollection, createDatabase, finishCollection, showDatabase } from './actions';
import { FormError, readThroughput } from './definition';
import { FormDialog } from './FormDialog';
import { TextField } from './TextField';
import { useSubmit } from './useSubmit';

const DOORS: Door[] = ['nosql', 'mongo'];

export function NewDatabase({ onClose }: { onClose: () => void }) {
  const doors = useStore(session)?.doors;
  const open: Record<Door, boolean> = { nosql: doors?.cosmos != null, mongo: doors?.mongo != null };
  const [door, setDoor] = useState<Door>(open.nosql ? 'nosql' : 'mongo');
  const [name, setName] = useState('');
  const [throughput, setThroughput] = useState('');
  const [collection, setCollection] = useState('');
  const form = useSubmit(async () => {
    if (name === '') throw new FormError('database', 'Give the database a name.');
    if (door === 'nosql') {
      await createDatabase(name, readThroughput(throughput));
      await showDatabase(door, name);
      return;
    }
    if (collection === '') throw new FormError('name', 'Give its first collection a name.');
    await createCollection(name, collection);
    await finishCollection(name, collection, undefined);
  }, onClose);
  return (
    <FormDialog title="New database" action="Create" form={form} onClose={onClose}>
      <fieldset className="ttl-choice">
        <legend>API</legend>
        <div className="row">
          {DOORS.map((key) => (
            <label key={key}>
              <input
                type="radio"
                name="door"
                checked={door === key}
                disabled={!open[key]}
                onChange={() => setDoor(key)}
              />{' '}
              {DOOR_NAMES[key]}
              {!open[key] && <span className="hint"> (off)</span>}
            </label>
          ))}
        </div>
        <div className="hint">A database of one API is not shown through the other.</div>
      </fieldset>
      <TextField
        label="Database name"
        error={form.errorOf('database')}
        value={name}
        onChange={setName}
        autoFocus
      />
      {door === 'nosql' ? (
        <TextField
          label="Throughput (RU/s), optional"
          hint="Shared by its containers. Empty: none. It limits only where the server enforces it."
          error={form.errorOf('throughput')}
          value={throughput}
          onChange={setThroughput}
        />
      ) : (
        <TextField
          label="First collection"
          hint="A MongoDB database is there as long as it has a collection."
          error={form.errorOf('name')}
          value={collection}
          onChange={setCollection}
        />
      )}
    </FormDialog>
  );
}
