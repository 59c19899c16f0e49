// Creates a database. In the MongoDB API it is created with its first collection.
import { useState } from 'react';
import { session } from '../../api/session';
import type { Door } from '../../state/place';
import { useStore } from '../../state/store';
import { DOOR_NAMES } from '../dialogs';
import { createCollection, createDatabase, finishCollection, showDatabase } from './actions';
import { readAll, readCollection, readId, readMongoDatabase, readThroughput } from './definition';
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
  const read = () =>
    door === 'nosql'
      ? readAll({
          database: () => readId('database', 'name of the database', name),
          offer: () => readThroughput(throughput),
        })
      : readAll({
          database: () => readMongoDatabase(name),
          first: () => readCollection(collection),
        });
  const send = async (wanted: ReturnType<typeof read>) => {
    const { database } = wanted;
    if ('first' in wanted) {
      await createCollection(database, wanted.first);
      await finishCollection(database, wanted.first, undefined);
    } else {
      await createDatabase(database, wanted.offer);
      await showDatabase('nosql', database);
    }
  };
  const form = useSubmit(read, send, onClose);
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
        <div className="hint">A database is visible through one API only.</div>
      </fieldset>
      <TextField
        label="Database name"
        error={form.errorOf('database')}
        value={name}
        onChange={setName}
      />
      {door === 'nosql' ? (
        <TextField
          label="Throughput (RU/s), optional"
          hint="Shared by its containers. Leave empty for none. It limits requests only if the server enforces it."
          error={form.errorOf('throughput')}
          value={throughput}
          onChange={setThroughput}
        />
      ) : (
        <TextField
          label="First collection"
          hint="A MongoDB database exists as long as it has a collection."
          error={form.errorOf('name')}
          value={collection}
          onChange={setCollection}
        />
      )}
    </FormDialog>
  );
}
