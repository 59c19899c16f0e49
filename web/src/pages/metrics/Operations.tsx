// Throughput and latency of operations from the server's metrics. Only renders tables.
import { Activity, Gauge } from 'lucide-react';
import type { FiguresSample } from '../../api/admin';
import { count } from '../../pure/figures/amount';
import { latency } from '../../pure/figures/latency';
import { timeOfDay } from '../../pure/time/utc';
import { setQuery, usePlace } from '../../state/router';
import { type DatedRow, withEarlier } from './earlier';
import { counters, METRICS_MS, operations, perSecond, type Reading } from './readings';

function Counters({ readings }: { readings: readonly Reading[] }) {
  return (
    <div className="metrics-scroll" role="region" aria-label="Counters" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Operations by API</caption>
        <thead>
          <tr>
            <th scope="col">Counter</th>
            <th scope="col">Per second</th>
            <th scope="col">Since server start</th>
          </tr>
        </thead>
        <tbody>
          {counters(readings).map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.label}</th>
              <td className="chart-number">{perSecond(row.perSecond)}</td>
              <td className="chart-number">{count(row.total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface OperationsProps {
  readings: readonly Reading[];
  /** Samples of the last day; null: still loading. */
  samples: readonly FiguresSample[] | null;
}

/** Formats the time of a row's measurement. */
function measured({ until, p50 }: DatedRow): string {
  if (until !== null) return `until ${timeOfDay(until).replace(' UTC', '')}`;
  return p50 === null ? 'not in the last day' : 'now';
}

function LatencyLine({
  row,
  recent,
  isKnown,
}: {
  row: DatedRow;
  recent: boolean;
  isKnown: boolean;
}) {
  return (
    <tr>
      <th scope="row">{row.name}</th>
      <td>{row.protocol}</td>
      <td className="chart-number">{perSecond(row.perSecond)}</td>
      <td className="chart-number">{count(row.total)}</td>
      {[row.p50, row.p95, row.p99].map((value, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the columns are fixed.
        <td key={at} className="chart-number">
          {latency(value)}
        </td>
      ))}
      {recent && <td className="metrics-when">{isKnown ? measured(row) : '–'}</td>}
    </tr>
  );
}

function Latencies({ readings, samples, recent }: OperationsProps & { recent: boolean }) {
  const all = operations(readings, recent).filter((row) => row.total > 0);
  const rows = withEarlier(all, recent ? (samples ?? []) : []);
  if (rows.length === 0) return <p className="hint">No commands have run yet.</p>;
  return (
    <div className="metrics-scroll" role="region" aria-label="Latencies" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Latencies of commands and routes</caption>
        <thead>
          <tr>
            <th scope="col">Command or route</th>
            <th scope="col">Protocol</th>
            <th scope="col">Per second</th>
            <th scope="col">Since server start</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
            <th scope="col">p99</th>
            {recent && <th scope="col">Measured (UTC)</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <LatencyLine
              key={row.key}
              row={row}
              recent={recent}
              isKnown={row.p50 !== null || samples !== null}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Operations({ readings, samples }: OperationsProps) {
  const { query } = usePlace();
  const recent = query.get('latencies') !== 'all';
  return (
    <>
      <h2>
        <Activity className="icon" />
        Operations
      </h2>
      <p className="hint">
        Per second:{' '}
        {readings.length < 2
          ? `first figures in ${METRICS_MS / 1000} s.`
          : 'over the last minute, or since this page was opened.'}
      </p>
      <Counters readings={readings} />
      <h2>
        <Gauge className="icon" />
        Latencies
      </h2>
      <p className="row">
        <label htmlFor="metrics-latency-of">Latencies of</label>
        <select
          id="metrics-latency-of"
          value={recent ? 'recent' : 'all'}
          onChange={(event) => setQuery('latencies', event.target.value === 'all' ? 'all' : null)}
        >
          <option value="recent">the last minute</option>
          <option value="all">since server start</option>
        </select>
      </p>
      {recent && (
        <p className="hint">
          Commands not run since this page was opened show the last values that the server measured,
          which have no p95.
        </p>
      )}
      <Latencies readings={readings} samples={samples} recent={recent} />
    </>
  );
}
