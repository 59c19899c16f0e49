// Preview of an import and its options: file format, CSV options, first documents, and the handling
// of existing ids. Writes nothing.
import { useMemo, useState } from 'react';
import { bytes } from '../../../pure/figures/amount';
import type { CsvOptions } from '../../../pure/importing/csv';
import type { ImportForm } from '../../../pure/importing/file';
import { whereIn } from '../../../pure/importing/found';
import type { Api } from '../../../pure/values/compare';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { type Chosen, endsEarly, firstOf, formOf, SHOWN } from './chosen';
import { PreviewTable } from './PreviewTable';
import { ON_EXISTING, type OnExisting } from './writer';

const FORMS: readonly [ImportForm['kind'], string][] = [
  ['json', 'JSON: an array, or concatenated documents'],
  ['lines', 'JSON Lines: one document per line'],
  ['csv', 'CSV'],
];

const DELIMITERS: readonly [string, string][] = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'bar'],
];

function existingInWords(what: OnExisting, noun: string): string {
  switch (what) {
    case 'refuse':
      return `Report an error; keep the existing ${noun}`;
    case 'skip':
      return `Skip; keep the existing ${noun}`;
    case 'replace':
      return `Overwrite the existing ${noun}; its TTL restarts`;
  }
}

interface CsvProps {
  options: CsvOptions;
  onOptions: (options: CsvOptions) => void;
  onDelimiter: (delimiter: string) => void;
}

function Csv({ options, onOptions, onDelimiter }: CsvProps) {
  const setHeader = (hasHeader: boolean) => {
    const columns = options.columns.map((column, at) => ({ ...column, path: `field${at + 1}` }));
    if (hasHeader) onDelimiter(options.delimiter);
    else onOptions({ ...options, hasHeader, columns });
  };
  return (
    <div className="row transfer-csv">
      <label>
        Delimiter{' '}
        <select value={options.delimiter} onChange={(event) => onDelimiter(event.target.value)}>
          {DELIMITERS.map(([unit, name]) => (
            <option key={unit} value={unit}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <input
          type="checkbox"
          checked={options.hasHeader}
          onChange={(event) => setHeader(event.target.checked)}
        />{' '}
        The first row contains names
      </label>
      <label>
        <input
          type="checkbox"
          checked={options.empty === 'absent'}
          onChange={(event) =>
            onOptions({ ...options, empty: event.target.checked ? 'absent' : 'null' })
          }
        />{' '}
        Omit empty fields
      </label>
    </div>
  );
}

export interface ImportPreviewProps {
  chosen: Chosen;
  api: Api;
  noun: 'item' | 'document';
  onBegin: (form: ImportForm, onExisting: OnExisting) => void;
  onBack: () => void;
  onClose: () => void;
}

export function ImportPreview(props: ImportPreviewProps) {
  const { chosen, api, noun, onBegin, onBack, onClose } = props;
  const [form, setForm] = useState(() => formOf(chosen, api));
  const [onExisting, setOnExisting] = useState<OnExisting>('refuse');
  const found = useMemo(() => firstOf(chosen, form, api), [chosen, form, api]);
  const rows = found.flatMap((one) => (one.kind === 'document' ? [one.value] : []));
  const refused = found.flatMap((one) => (one.kind === 'refused' ? [one] : []));
  const options = form.kind === 'csv' ? form.options : null;
  const isCut = endsEarly(chosen, form);
  const put = (next: CsvOptions) => setForm({ kind: 'csv', options: next });
  const delimited = (delimiter: string) => {
    const guessed = formOf(chosen, api, 'csv', delimiter);
    setForm(guessed);
  };
  return (
    <>
      <p>
        <strong className="transfer-name">{chosen.name}</strong>, {bytes(chosen.file.size)}. These
        are the first {SHOWN} {noun}s at most; nothing has been imported yet.
      </p>
      <div className="row transfer-csv">
        <label>
          Read as{' '}
          <select
            value={form.kind}
            onChange={(event) => {
              const kind = FORMS.find(([name]) => name === event.target.value)?.[0];
              if (kind !== undefined) setForm(formOf(chosen, api, kind));
            }}
          >
            {FORMS.map(([kind, name]) => (
              <option key={kind} value={kind}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {options !== null && <Csv options={options} onOptions={put} onDelimiter={delimited} />}
      {rows.length > 0 || options !== null ? (
        <PreviewTable
          rows={rows}
          columns={options?.columns ?? null}
          api={api}
          onColumns={(columns) => options !== null && put({ ...options, columns })}
        />
      ) : (
        refused.length === 0 && (
          <p className="hint">
            {chosen.isWhole
              ? `The file has no ${noun}s.`
              : `The first ${noun} is too long to show.`}
          </p>
        )
      )}
      {refused.map(({ line, column, why, ...rest }) => (
        <p key={`${line}:${column}`} className="error">
          Line {line}, {whereIn({ column, ...rest })}: {why}
        </p>
      ))}
      <fieldset className="transfer-existing">
        <legend>If an id already exists</legend>
        {ON_EXISTING.map((what) => (
          <label key={what}>
            <input
              type="radio"
              name="on-existing"
              checked={onExisting === what}
              onChange={() => setOnExisting(what)}
            />{' '}
            {existingInWords(what, noun)}
          </label>
        ))}
      </fieldset>
      {isCut && (
        <Banner look="warn">
          The file ends early: its array is not closed. Only the {noun}s that are complete can be
          imported.
        </Banner>
      )}
      <div className="row dialog-buttons">
        <Button
          {...(isCut ? {} : { look: 'primary' as const })}
          disabled={chosen.isWhole && rows.length === 0}
          onClick={() => onBegin(form, onExisting)}
        >
          {isCut ? `Import the complete ${noun}s` : 'Import'}
        </Button>
        <Button onClick={onBack}>Choose another file</Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </>
  );
}
