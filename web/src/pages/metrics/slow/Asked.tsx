// A table cell with the query of an operation.
import { count } from '../../../pure/figures/amount';
import { visible } from '../../../pure/values/visible';
import type { Place } from '../../../state/place';
import { PlaceLink } from '../../../ui/PlaceLink';
import { doorOf, queryOf, type SlowOperation } from './queryOf';
import './slow.css';

export const ms = (value: number) => `${count(value)} ms`;

/** Truncated until the row has the focus or is expanded. */
export function Asked({ text }: { text: string | null }) {
  if (text === null) return <span className="hint">not recorded</span>;
  const shown = visible(text);
  return <code title={shown}>{shown}</code>;
}

export function OpenInQuery({ slow }: { slow: SlowOperation }) {
  const parts = queryOf(slow);
  if (parts === null) return null;
  const { operation, database, collection } = slow;
  const place: Place = {
    ...{ page: 'collection', view: 'query', door: doorOf(slow), database, collection },
  };
  return (
    <PlaceLink
      to={place}
      query={parts}
      aria-label={`Open in Query: ${operation} of ${collection}, ${ms(slow.duration_ms)}`}
    >
      Open in Query
    </PlaceLink>
  );
}
