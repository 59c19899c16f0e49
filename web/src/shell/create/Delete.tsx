// Deletes a database, container or collection after its name is typed.
import { useState } from 'react';
import type { Target } from '../../state/place';
import { usePlace } from '../../state/router';
import { type Asked, DOOR_NAMES, noun } from '../dialogs';
import { heldInWords, useDatabaseHolds, useHolds } from '../whole/useHolds';
import { deleteCollection, deleteDatabase } from './actions';
import { FormDialog } from './FormDialog';
import { TextField } from './TextField';
import { useSubmit } from './useSubmit';

export interface DeleteProps {
  asked:
    | Extract<Asked, { kind: 'delete-database' }>
    | { kind: 'delete-collection'; target: Target };
  onClose: () => void;
}

export function Delete({ asked, onClose }: DeleteProps) {
  const { place } = usePlace();
  const [typed, setTyped] = useState('');
  const isDatabase = asked.kind === 'delete-database';
  const door = isDatabase ? asked.door : asked.target.door;
  const what = isDatabase ? 'database' : noun(door);
  const name = isDatabase ? asked.database : asked.target.collection;
  const holds = useHolds(isDatabase ? null : asked.target);
  const all = useDatabaseHolds(isDatabase ? asked : null);
  const form = useSubmit(
    () => undefined,
    () =>
      isDatabase
        ? deleteDatabase(place, door, asked.database)
        : deleteCollection(place, asked.target),
    onClose,
  );
  return (
    <FormDialog
      title={`Delete ${what}`}
      action="Delete"
      danger
      blocked={typed !== name}
      form={form}
      onClose={onClose}
    >
      <p>
        The {DOOR_NAMES[door]} {what} <strong className="name">{name}</strong>
        {!isDatabase && (
          <>
            {' '}
            of database <strong className="name">{asked.target.database}</strong>
          </>
        )}{' '}
        and {isDatabase ? all : heldInWords(holds, asked.target)} in it will be deleted. This cannot
        be undone.
      </p>
      <TextField
        label={`Type the name of the ${what} to confirm`}
        value={typed}
        onChange={setTyped}
      />
    </FormDialog>
  );
}
