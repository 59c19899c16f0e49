// Creates a container of the NoSQL API in an existing or new database.
import { useRef, useState } from 'react';
import { draftOf } from '../../pure/ttl/input';
import { Field } from '../../ui/Field';
import { createContainer, createDatabase } from './actions';
import { type Chosen, DatabaseChoice, firstChoice, nameOf } from './DatabaseChoice';
import { type ContainerForm, completedPaths, containerOf, readAll, readId } from './definition';
import { FormDialog } from './FormDialog';
import { TextField } from './TextField';
import { TtlChoice } from './TtlChoice';
import { useSubmit } from './useSubmit';

const EMPTY: ContainerForm = { name: '', key: '', ttl: draftOf(null), unique: '' };

export interface NewContainerProps {
  database: string | null;
  onClose: () => void;
}

export function NewContainer({ database, onClose }: NewContainerProps) {
  const [chosen, choose] = useState<Chosen>(() => firstChoice('nosql', database));
  const [fields, setFields] = useState(EMPTY);
  // If creating the container failed, a retry must not create the database again.
  const made = useRef('');
  const put = (change: Partial<ContainerForm>) => setFields((before) => ({ ...before, ...change }));
  const read = () =>
    readAll({
      name: () => chosen.existing ?? readId('database', 'name of the database', nameOf(chosen)),
      definition: () => containerOf(fields),
    });
  const send = async ({ name, definition }: ReturnType<typeof read>) => {
    if (chosen.existing === null && made.current !== name) {
      await createDatabase(name);
      made.current = name;
    }
    await createContainer(name, definition);
  };
  const form = useSubmit(read, send, onClose);
  const completed = completedPaths(fields.key);
  return (
    <FormDialog title="New container" action="Create" form={form} onClose={onClose}>
      <DatabaseChoice
        door="nosql"
        chosen={chosen}
        error={form.errorOf('database')}
        onChange={choose}
      />
      <TextField
        label="Container id"
        error={form.errorOf('name')}
        value={fields.name}
        onChange={(name) => put({ name })}
      />
      <TextField
        label="Partition key"
        hint={
          completed === null
            ? 'A property path. Up to three, separated by commas, form a hierarchical key.'
            : `Will be created as ${completed}: paths begin with a slash.`
        }
        placeholder="/user"
        error={form.errorOf('key')}
        value={fields.key}
        onChange={(key) => put({ key })}
      />
      <TtlChoice
        noun="Items"
        draft={fields.ttl}
        error={form.errorOf('seconds')}
        onDraft={(ttl) => put({ ttl })}
      />
      <Field
        label="Unique keys, optional"
        hint="One per line, with paths separated by commas. They cannot be changed later."
        error={form.errorOf('unique')}
      >
        {(props) => (
          <textarea
            {...props}
            rows={2}
            spellCheck={false}
            value={fields.unique}
            onChange={(event) => put({ unique: event.target.value })}
          />
        )}
      </Field>
    </FormDialog>
  );
}
