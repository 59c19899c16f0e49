// The form for changing a field of many items: which field, and how.
import { useId, useMemo } from 'react';
import { columnsOf, EXPIRES } from '../../../../pure/columns/columns';
import { partsOfPath } from '../../../../pure/values/path';
import { Field } from '../../../../ui/Field';
import type { Row, Source } from '../../source';
import { whyNotPath } from './change';
import { type FieldType, type FieldTyped, TYPES, type Wrong } from './typed';

export interface FieldFormProps {
  source: Source;
  /** Rows that provide the known fields. */
  rows: readonly Row[];
  typed: FieldTyped;
  /** The effective type: selected, or the most frequent one. */
  type: FieldType;
  wrong: Wrong;
  onType: (typed: FieldTyped) => void;
}

/** Number of documents sampled for known fields. */
const SAMPLE = 500;

const DOES = [
  ['set', 'Set to a value'],
  ['remove', 'Remove the field'],
  ['rename', 'Rename the field'],
] as const satisfies readonly [FieldTyped['does'], string][];

const EXAMPLES: Partial<Record<FieldType, string>> = {
  date: '2026-01-31T12:00:00Z',
  objectId: '24 hexadecimal digits',
  boolean: 'true or false',
};

/** Returns the paths that can be changed, most frequent first. */
function usePaths(source: Source, rows: readonly Row[]): readonly string[] {
  return useMemo(() => {
    const values = rows.slice(0, SAMPLE).map(({ value }) => value);
    return columnsOf(values, source.idField, source.keys)
      .map(({ id }) => id)
      .filter((id) => id !== EXPIRES && whyNotPath(partsOfPath(id), source) === null);
  }, [source, rows]);
}

/** Empty input is not reported as an error. */
const said = (why: string | undefined) => (why === undefined || why === '' ? null : why);

function ValueFields({ source, typed, type, wrong, onType }: Omit<FieldFormProps, 'rows'>) {
  return (
    <>
      <Field label="Type">
        {(props) => (
          <select
            {...props}
            value={type}
            onChange={(event) => {
              const named = TYPES[source.api].find(([name]) => name === event.target.value);
              onType({ ...typed, type: named?.[0] ?? null });
            }}
          >
            {TYPES[source.api].map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {type !== 'null' && (
        <Field label="Value" error={said(wrong.text)}>
          {(props) =>
            type === 'object' ? (
              <textarea
                {...props}
                className="mono"
                rows={3}
                spellCheck={false}
                value={typed.text}
                onChange={(event) => onType({ ...typed, text: event.target.value })}
              />
            ) : (
              <input
                {...props}
                className="mono"
                type="text"
                autoComplete="off"
                spellCheck={false}
                placeholder={EXAMPLES[type]}
                value={typed.text}
                onChange={(event) => onType({ ...typed, text: event.target.value })}
              />
            )
          }
        </Field>
      )}
    </>
  );
}

export function FieldForm(props: FieldFormProps) {
  const { source, rows, typed, wrong, onType } = props;
  const id = useId();
  const paths = usePaths(source, rows);
  const path = (label: string, name: 'path' | 'to', hint?: string) => (
    <Field label={label} error={said(wrong[name])} {...(hint === undefined ? {} : { hint })}>
      {(field) => (
        <input
          {...field}
          className="mono"
          type="text"
          list={`${id}-paths`}
          autoComplete="off"
          spellCheck={false}
          value={typed[name]}
          onChange={(event) => onType({ ...typed, [name]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <div className="many-field">
      <datalist id={`${id}-paths`}>
        {paths.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {path('Field', 'path', 'Use dots for nested fields: address.city')}
      <fieldset className="many-ttl">
        <legend>Action</legend>
        {DOES.map(([does, label]) => (
          <label key={does}>
            <input
              type="radio"
              name={`${id}-does`}
              checked={typed.does === does}
              onChange={() => onType({ ...typed, does })}
            />{' '}
            {label}
          </label>
        ))}
      </fieldset>
      {typed.does === 'set' && <ValueFields {...props} />}
      {typed.does === 'rename' && path('New name', 'to')}
    </div>
  );
}
