// Metrics of the whole account: live and expiring documents of both APIs, operations, the clock.
import { Clock, Hourglass, Server } from 'lucide-react';
import { useRef } from 'react';
import {
  type AccountSeries,
  accountSeries,
  readFigures,
  readMetrics,
  type Status,
} from '../../api/admin';
import { bytes, count, counted } from '../../pure/figures/amount';
import { latency } from '../../pure/figures/latency';
import { bareValue } from '../../pure/figures/prometheus';
import { inWords } from '../../pure/time/duration';
import { usePolled } from '../../state/polled';
import { server } from '../../state/server';
import { useStore } from '../../state/store';
import { Failure } from '../../ui/Failure';
import { type Figure, Figures } from '../../ui/Figures';
import { ClockControl } from './ClockControl';
import { ExpiryChart } from './ExpiryChart';
import { History } from './history/History';
import { Operations } from './Operations';
import { fsync, groupSize, kept, METRICS_MS, type Reading, reading } from './readings';
import { SlowOperations } from './slow/SlowOperations';
import { DAY, HOUR } from './steps';
import './metrics.css';

const REFRESH_MS = 5000;
const FIGURES_MS = 10_000;

/** Polls the metrics; returns the scrapes of the last minute. */
function useReadings() {
  const known = useRef<Reading[]>([]);
  return usePolled(async () => {
    known.current = kept(known.current, reading(await readMetrics(), performance.now()));
    return known.current;
  }, METRICS_MS);
}

const documentsOf = (value: number) => counted(value, 'document');

function lifeFigures(known: AccountSeries): Figure[] {
  const dead = known.unreaped_estimate;
  return [
    { name: 'Collections and containers', value: count(known.collections) },
    {
      name: 'Live',
      value: `${counted(known.live.documents, 'document')}, ${bytes(known.live.bytes)}`,
    },
    {
      name: 'Expired, not yet removed (estimate)',
      value: `${counted(dead.documents, 'document')}, ${bytes(dead.bytes)}`,
      hint:
        dead.documents > 0
          ? `The oldest expired ${inWords(dead.oldest_dead_seconds)} ago.`
          : 'Queries never return them.',
    },
  ];
}

function serverFigures(status: Status | null, last: Reading | undefined): Figure[] {
  const figures: Figure[] = [];
  const put = (name: string, value: string | null, hint?: string) => {
    if (value !== null) figures.push({ name, value, ...(hint === undefined ? {} : { hint }) });
  };
  const metric = (name: string) => (last === undefined ? null : bareValue(last.samples, name));
  const number = (value: number | null | undefined) => (value == null ? null : count(value));
  put('MongoDB connections', number(status?.mongo?.connections));
  put('MongoDB cursors', number(status?.mongo?.cursors));
  put('NoSQL connections', number(metric('ebb_nosql_connections')));
  if (status?.reaper !== undefined) {
    const { passes, documents } = status.reaper;
    const name = passes === 1 ? 'pass' : 'passes';
    put(
      'Removal of expired',
      `${count(passes)} ${name}`,
      `${documentsOf(documents)} compacted away`,
    );
  }
  const backlog = metric('ebb_ttl_purge_backlog');
  const lag = inWords(metric('ebb_ttl_purge_lag_seconds') ?? 0);
  put(
    'Pending removal (estimate)',
    number(backlog),
    backlog === 0 ? undefined : `the oldest expired ${lag} ago`,
  );
  const onDisk = metric('ebb_storage_bytes');
  put('On disk', onDisk === null ? null : bytes(onDisk));
  const waits = last === undefined ? null : fsync(last);
  const size = last === undefined ? null : groupSize(last);
  if (waits !== null && waits.count > 0) {
    put(
      'fsync p50 · p95 · p99',
      [waits.p50, waits.p95, waits.p99].map(latency).join(' · '),
      `${count(waits.count)} since server start${size === null ? '' : `, ${size.toFixed(1)} commits per fsync`}`,
    );
  }
  return figures;
}

export default function AccountMetrics() {
  const { status } = useStore(server);
  const hours = usePolled(() => accountSeries(HOUR.seconds, 24), REFRESH_MS);
  const days = usePolled(() => accountSeries(DAY.seconds, 30), REFRESH_MS);
  const figures = usePolled(readFigures, FIGURES_MS);
  const readings = useReadings();
  const failure = hours.failure ?? days.failure;
  const again = () => {
    hours.again();
    days.again();
  };
  return (
    <div className="page metrics">
      <h1>Metrics</h1>
      <h2>
        <Clock className="icon" />
        Clock
      </h2>
      <ClockControl />
      <h2>
        <Hourglass className="icon" />
        Expiry
      </h2>
      {failure !== null && <Failure error={failure} onAgain={again} />}
      {hours.value !== null && <Figures figures={lifeFigures(hours.value)} label="Expiry" />}
      <div className="metrics-charts">
        <ExpiryChart
          title="Documents that expire per hour, next 24 hours"
          series={hours.value}
          unit={HOUR}
        />
        <ExpiryChart
          title="Documents that expire per day, next 30 days"
          series={days.value}
          unit={DAY}
        />
      </div>
      <History figures={figures} />
      <h2>
        <Server className="icon" />
        Server
      </h2>
      {readings.failure !== null && <Failure error={readings.failure} onAgain={readings.again} />}
      <Figures figures={serverFigures(status, readings.value?.at(-1))} label="Server" />
      {readings.value !== null && (
        <Operations readings={readings.value} samples={figures.value?.samples ?? null} />
      )}
      <SlowOperations />
    </div>
  );
}
