// Results as a table: one row each, one column per field. A row links to its item.

import { type MouseEvent, useMemo } from 'react';
import { isOfNumbers, titleOf } from '../../../pure/columns/columns';
import { counted } from '../../../pure/figures/amount';
import { typedText } from '../../../pure/values/bare';
import { partsOfPath } from '../../../pure/values/path';
import { visible } from '../../../pure/values/visible';
import type { Place, Target } from '../../../state/place';
import { go } from '../../../state/router';
import { PlaceLink } from '../../../ui/PlaceLink';
import { type Form, type Results, tableColumns, type Value } from './form';
import { Nothing } from './Nothing';

export interface ResultTableProps {
  target: Target;
  results: Results;
  /** Number of the first row, from 1. */
  first: number;
}

/** Limit for readability; JSON and tree show all fields. */
const MOST_COLUMNS = 40;
const MOST_CHARACTERS = 120;

function Cell({ form, value }: { form: Form; value: Value | undefined }) {
  if (value === undefined) return <td />;
  const text = visible(form.cell(value));
  const isLong = text.length > MOST_CHARACTERS;
  const tip = isLong ? text.slice(0, 2000) : (typedText(value) ?? undefined);
  return (
    <td className={`result-${form.kind(value)}`} title={tip}>
      {isLong ? `${text.slice(0, MOST_CHARACTERS)}…` : text}
    </td>
  );
}

/** Whether a click opens the row: not if it selected text or the link handled it. */
function opens(event: MouseEvent): boolean {
  return !event.defaultPrevented && String(window.getSelection() ?? '') === '';
}

export function ResultTable({ target, results, first }: ResultTableProps) {
  const { form, rows, keys } = results;
  const columns = useMemo(() => tableColumns(results), [results]);
  const shown = columns.slice(0, MOST_COLUMNS);
  const noun = target.door === 'mongo' ? 'document' : 'item';
  const place: Place = { page: 'collection', view: 'items', ...target };
  if (rows.length === 0) return <Nothing target={target} />;
  return (
    <>
      <div className="result-scroll" role="region" aria-label="Results as a table" tabIndex={0}>
        <table className="result-table">
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">Number</span>
              </th>
              {shown.map((column) => (
                <th
                  scope="col"
                  key={column.id}
                  className={isOfNumbers(column) ? 'result-numbers' : undefined}
                >
                  {titleOf(column.id)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => {
              const key = keys[at] ?? null;
              const whole = form.wrapped(row);
              const number = first + at;
              return (
                <tr
                  key={number}
                  className={key === null ? undefined : 'result-opens'}
                  onClick={(event) => {
                    if (key !== null && opens(event)) go(place, { item: key });
                  }}
                >
                  <th scope="row">
                    {key === null ? (
                      number
                    ) : (
                      <PlaceLink
                        to={place}
                        query={{ item: key }}
                        aria-label={`Open ${noun} of row ${number}`}
                      >
                        {number}
                      </PlaceLink>
                    )}
                  </th>
                  {shown.map(({ id }) => (
                    <Cell key={id} form={form} value={form.at(whole, partsOfPath(id))} />
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {columns.length > MOST_COLUMNS && (
        <p className="hint">
          {counted(columns.length - MOST_COLUMNS, 'more field')} shown in JSON and Tree.
        </p>
      )}
    </>
  );
}
