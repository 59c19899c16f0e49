// How much the doors do and how long it takes, from the server's metrics. Tables alone.
import { Activity, Gauge } from 'lucide-react';
import { count } from '../../pure/figures/amount';
import { latency } from '../../pure/figures/latency';
import { setQuery, usePlace } from '../../state/router';
import { counters, operations, perSecond, type Reading } from './readings';

function Counters({ readings }: { readings: readonly Reading[] }) {
  return (
    <div className="metrics-scroll" role="region" aria-label="Counters" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Operations by API</caption>
        <thead>
          <tr>
            <th scope="col">Counter</th>
            <th scope="col">Per second</th>
            <th scope="col">Since the start</th>
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

function Latencies({ readings, recent }: { readings: readonly Reading[]; recent: boolean }) {
  const rows = operations(readings, recent).filter((row) => row.total > 0);
  if (rows.length === 0) return <p className="hint">No command was run yet.</p>;
  return (
    <div className="metrics-scroll" role="region" aria-label="Latencies" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Latencies of commands and routes</caption>
        <thead>
          <tr>
            <th scope="col">Command or route</th>
            <th scope="col">Protocol</th>
            <th scope="col">Per second</th>
            <th scope="col">Since the start</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
            <th scope="col">p99</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
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
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Operations({ readings }: { readings: readonly Reading[] }) {
  const { query } = usePlace();
  const recent = query.get('latencies') !== 'all';
  return (
    <>
      <h2>
        <Activity className="icon" />
        Operations
      </h2>
      <p className="hint">Per second: over the last minute, or since this page was opened.</p>
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
          <option value="all">all since the start</option>
        </select>
      </p>
      <Latencies readings={readings} recent={recent} />
    </>
  );
}
