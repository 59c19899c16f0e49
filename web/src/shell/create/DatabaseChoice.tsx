// Selects the database for a new container or collection: existing or new.
import type { Door } from '../../state/place';
import { useStore } from '../../state/store';
import { tree } from '../../state/tree';
import { Field } from '../../ui/Field';

export interface Chosen {
  /** null: a new one. */
  existing: string | null;
  fresh: string;
}

export function nameOf(chosen: Chosen): string {
  return chosen.existing ?? chosen.fresh;
}

export function firstChoice(door: Door, proposal: string | null): Chosen {
  const names = tree.get().branches.filter((branch) => branch.door === door);
  const known = names.find((branch) => branch.name === proposal) ?? names[0];
  return { existing: known?.name ?? null, fresh: '' };
}

export interface DatabaseChoiceProps {
  door: Door;
  chosen: Chosen;
  error: string | null;
  onChange: (chosen: Chosen) => void;
}

export function DatabaseChoice({ door, chosen, error, onChange }: DatabaseChoiceProps) {
  const { branches } = useStore(tree);
  const names = branches.filter((branch) => branch.door === door).map((branch) => branch.name);
  const isNew = chosen.existing === null;
  return (
    <>
      {names.length > 0 && (
        <Field label="Database" error={isNew ? null : error}>
          {(props) => (
            <select
              {...props}
              value={isNew ? 'new' : `at ${chosen.existing}`}
              onChange={(event) => {
                const found = names.find((name) => `at ${name}` === event.target.value);
                onChange({ ...chosen, existing: found ?? null });
              }}
            >
              {names.map((name) => (
                <option key={name} value={`at ${name}`}>
                  {name}
                </option>
              ))}
              <option value="new">New database…</option>
            </select>
          )}
        </Field>
      )}
      {isNew && (
        <Field label="New database" error={error}>
          {(props) => (
            <input
              {...props}
              autoComplete="off"
              spellCheck={false}
              value={chosen.fresh}
              onChange={(event) => onChange({ existing: null, fresh: event.target.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}
