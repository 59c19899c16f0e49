// The format of an export and its options. Writes nothing.
import type { Api } from '../../../pure/values/compare';
import { Field } from '../../../ui/Field';
import type { ExportForm } from './exportForm';

const WORDS: readonly [ExportForm['kind'], string][] = [
  ['lines', 'JSON Lines: one document per line'],
  ['json', 'JSON: an array'],
  ['csv', 'CSV: one row per document'],
];

export interface ExportOptionsProps {
  form: ExportForm;
  api: Api;
  onForm: (form: ExportForm) => void;
}

function Check(props: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label>
      <input
        type="checkbox"
        checked={props.on}
        onChange={(event) => props.onChange(event.target.checked)}
      />{' '}
      {props.label}
    </label>
  );
}

function CsvOptions({ form, onForm }: Omit<ExportOptionsProps, 'api'>) {
  return (
    <>
      <Field
        label="Columns, one per line"
        hint="Fields of the first 1,000 documents; fields without a column are left out."
      >
        {(props) => (
          <textarea
            {...props}
            className="mono transfer-paste"
            rows={Math.min(8, Math.max(3, form.paths.length))}
            spellCheck={false}
            value={form.paths.join('\n')}
            onChange={(event) => {
              const paths = event.target.value.split('\n');
              onForm({ ...form, paths: paths.every((path) => path === '') ? [] : paths });
            }}
          />
        )}
      </Field>
      <div className="row transfer-csv">
        <label>
          Delimiter{' '}
          <select
            value={form.delimiter}
            onChange={(event) => onForm({ ...form, delimiter: event.target.value })}
          >
            <option value=",">comma</option>
            <option value=";">semicolon</option>
            <option value={'\t'}>tab</option>
          </select>
        </label>
        <Check
          label="Escape formulas for spreadsheets"
          on={form.guard}
          onChange={(guard) => onForm({ ...form, guard })}
        />
      </div>
    </>
  );
}

export function ExportOptions({ form, api, onForm }: ExportOptionsProps) {
  return (
    <>
      <fieldset className="transfer-existing">
        <legend>Form</legend>
        {WORDS.map(([kind, words]) => (
          <label key={kind}>
            <input
              type="radio"
              name="export-form"
              checked={form.kind === kind}
              onChange={() => onForm({ ...form, kind })}
            />{' '}
            {words}
          </label>
        ))}
      </fieldset>
      {form.kind === 'csv' && <CsvOptions form={form} onForm={onForm} />}
      {form.kind !== 'csv' && (
        <div className="row transfer-csv">
          {api === 'mongo' ? (
            <>
              <Check
                label="Preserve all types (canonical Extended JSON)"
                on={form.canonical}
                onChange={(canonical) => onForm({ ...form, canonical })}
              />
              {!form.canonical && (
                <span className="hint">
                  Number types are lost: a long of 12 is imported as an int.
                </span>
              )}
            </>
          ) : (
            <Check
              label="Include system properties (_ts, _etag and others)"
              on={form.system}
              onChange={(system) => onForm({ ...form, system })}
            />
          )}
        </div>
      )}
    </>
  );
}
