// Operations that took long, the newest first, with a way to the query of each.
import { useState } from 'react';
import { count, counted } from '../../../pure/figures/amount';
import { utc } from '../../../pure/time/utc';
import type { Place } from '../../../state/place';
import { usePolled } from '../../../state/polled';
import { Failure } from '../../../ui/Failure';
import { PlaceLink } from '../../../ui/PlaceLink';
import { doorOf, ofOthers, queryOf, type SlowOperation } from './queryOf';
import { readSlow } from './read';

const REFRESH_MS = 5000;
/** More than a person looks through; the command line lists all. */
const SHOWN = 50;

function Line({ slow }: { slow: SlowOperation }) {
  const { database, collection } = slow;
  const door = doorOf(slow);
  const parts = queryOf(slow);
  const place: Place = { page: 'collection', view: 'query', door, database, collection };
  return (
    <tr>
      <td>{utc(Date.parse(slow.at))}</td>
      <th scope="row">
        {slow.operation}
        {slow.failed === true && <span className="error"> failed</span>}
      </th>
      <td className="metrics-names">
        {[database, collection].filter((name) => name !== '').join(' › ')}
      </td>
      <td className="chart-number">{count(slow.duration_ms)} ms</td>
      <td className="chart-number">{count(slow.examined)}</td>
      <td className="chart-number">{count(slow.returned)}</td>
      <td>{slow.plan ?? ''}</td>
      <td>
        {parts !== null && (
          <PlaceLink
            to={place}
            query={parts}
            aria-label={`Open in Query: ${slow.operation} of ${collection}, ${count(slow.duration_ms)} ms`}
          >
            Open in Query
          </PlaceLink>
        )}
      </td>
    </tr>
  );
}

const HEADS = ['Ended', 'Operation', 'Collection', 'Took', 'Examined', 'Returned', 'Plan', 'Query'];

function Listed({ operations }: { operations: readonly SlowOperation[] }) {
  return (
    <div className="metrics-scroll" role="region" aria-label="Slow operations" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Slow operations</caption>
        <thead>
          <tr>
            {HEADS.map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {operations.slice(0, SHOWN).map((slow, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: several can be alike.
            <Line key={`${slow.at} ${at}`} slow={slow} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How many took so long. */
function inWords(operations: number, limit: number): string {
  const long = `took ${count(limit)} ms or more`;
  if (operations === 0) return `Nothing ${long} within the last day.`;
  const shown = operations > SHOWN ? `; the last ${SHOWN} are shown` : '';
  return `${counted(operations, 'operation')} of the last day ${long}${shown}.`;
}

/** Those of others, and on demand those of the portal itself, which somebody who looks here causes. */
function Noted({ all, limit }: { all: readonly SlowOperation[]; limit: number }) {
  const [isWhole, showWhole] = useState(false);
  const operations = isWhole ? all : ofOthers(all);
  const own = all.length - ofOthers(all).length;
  return (
    <>
      <p className="hint">{inWords(operations.length, limit)}</p>
      {own > 0 && (
        <label className="row">
          <input
            type="checkbox"
            checked={isWhole}
            onChange={(event) => showWhole(event.currentTarget.checked)}
          />
          Also those of the portal ({count(own)})
        </label>
      )}
      {operations.length > 0 && <Listed operations={operations} />}
    </>
  );
}

export function SlowOperations() {
  const { value, failure, again } = usePolled(readSlow, REFRESH_MS);
  // A server without such a list has nothing to show.
  if (value === null && failure === null) return null;
  return (
    <>
      <h2>Slow operations</h2>
      {failure !== null && <Failure error={failure} onAgain={again} />}
      {value !== null && value.threshold_ms === null && (
        <p className="hint">The server was told to note none (--slow-ms off).</p>
      )}
      {value !== null && value.threshold_ms !== null && (
        <Noted all={value.operations} limit={value.threshold_ms} />
      )}
    </>
  );
}
