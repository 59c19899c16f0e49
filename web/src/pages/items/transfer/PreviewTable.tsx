// The first documents of a file as a table with a column per field and its types. For CSV, types
// and target fields can be changed.
import type { CsvColumn } from '../../../pure/importing/csv';
import { CSV_TYPES, type CsvType } from '../../../pure/importing/csvTypes';
import { bareText, typedText } from '../../../pure/values/bare';
import type { Api } from '../../../pure/values/compare';
import { kindOf } from '../../../pure/values/kind';
import { partsOfPath, pathText, valueAtPath } from '../../../pure/values/path';

const MOST_COLUMNS = 30;
const LONGEST = 60;

const TYPE_WORDS: Record<CsvType, string> = {
  text: 'text',
  number: 'number',
  commaNumber: 'number (12,5)',
  boolean: 'true or false',
  date: 'date',
  dayFirst: 'date (day first)',
  objectId: 'ObjectId',
  json: 'JSON',
};

function shown(value: unknown): string {
  const text = bareText(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function Cell({ value }: { value: unknown }) {
  return (
    <td className="mono" title={typedText(value) ?? undefined}>
      {shown(value)}
    </td>
  );
}

function fieldsOf(rows: readonly unknown[]): string[] {
  const names = rows.flatMap((row) => Object.keys(row as object));
  return [...new Set(names)].map((name) => pathText([name]));
}

function kindsOf(rows: readonly unknown[], path: string): string {
  const kinds = rows.map((row) => kindOf(valueAtPath(row, partsOfPath(path))));
  return [...new Set(kinds.filter((kind) => kind !== 'missing'))].join(', ');
}

export interface PreviewTableProps {
  rows: readonly unknown[];
  /** CSV columns; null: columns are derived from the documents. */
  columns: readonly CsvColumn[] | null;
  api: Api;
  onColumns: (columns: readonly CsvColumn[]) => void;
}

interface HeadProps {
  column: CsvColumn;
  at: number;
  api: Api;
  onChange: (column: CsvColumn) => void;
}

function CsvHead({ column, at, api, onChange }: HeadProps) {
  const types = CSV_TYPES.filter((type) => type !== 'objectId' || api === 'mongo');
  return (
    <th scope="col">
      <input
        className="mono"
        type="text"
        aria-label={`Field of column ${at + 1}`}
        placeholder="left out"
        size={Math.max(8, column.path.length)}
        spellCheck={false}
        value={column.path}
        onChange={(event) => onChange({ ...column, path: event.target.value })}
      />
      <select
        aria-label={`Type of column ${at + 1}`}
        value={column.type}
        onChange={(event) =>
          onChange({ ...column, type: types.find((type) => type === event.target.value) ?? 'text' })
        }
      >
        {types.map((type) => (
          <option key={type} value={type}>
            {TYPE_WORDS[type]}
          </option>
        ))}
      </select>
    </th>
  );
}

export function PreviewTable({ rows, columns, api, onColumns }: PreviewTableProps) {
  const all = columns === null ? fieldsOf(rows) : columns.map(({ path }) => path);
  const paths = all.slice(0, MOST_COLUMNS);
  return (
    <>
      <div className="transfer-scroll" role="region" tabIndex={0} aria-label="First documents">
        <table className="transfer-table">
          <thead>
            <tr>
              {columns === null
                ? paths.map((path) => (
                    <th key={path} scope="col">
                      <span className="mono">{path}</span>
                      <div className="hint">{kindsOf(rows, path)}</div>
                    </th>
                  ))
                : columns.slice(0, MOST_COLUMNS).map((column, at) => (
                    <CsvHead
                      // biome-ignore lint/suspicious/noArrayIndexKey: the index identifies it.
                      key={at}
                      column={column}
                      at={at}
                      api={api}
                      onChange={(next) => onColumns(columns.with(at, next))}
                    />
                  ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows are read-only.
              <tr key={at}>
                {paths.map((path, column) => (
                  <Cell
                    // biome-ignore lint/suspicious/noArrayIndexKey: as above.
                    key={column}
                    value={path === '' ? undefined : valueAtPath(row, partsOfPath(path))}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {all.length > paths.length && (
        <p className="hint">
          {all.length - paths.length} more fields are imported but not shown here.
        </p>
      )}
    </>
  );
}
