// Metrics of a collection: live documents, upcoming expirations, expired rows not yet reaped,
// storage, and operations.
import { type Amount, type Forecast, forecast, series } from '../../api/admin';
import * as mongo from '../../api/mongo';
import { bytes, counted } from '../../pure/figures/amount';
import { inWords } from '../../pure/time/duration';
import type { Target } from '../../state/place';
import { usePolled } from '../../state/polled';
import { Failure } from '../../ui/Failure';
import { type Figure, Figures } from '../../ui/Figures';
import { Running } from './collection/Running';
import { Storage } from './collection/Storage';
import { ExpiryChart } from './ExpiryChart';
import { type DateRule, ruleWords } from './ruleWords';
import { SlowOperations } from './slow/SlowOperations';
import { DAY, HOUR } from './steps';
import './metrics.css';

const REFRESH_MS = 5000;
/** Indexes rarely change. */
const RULES_MS = 30_000;

async function dateRules({ door, database, collection }: Target): Promise<DateRule[]> {
  if (door === 'nosql') return [];
  const indexes = await mongo.listIndexes(database, collection);
  return indexes.flatMap(({ name, key, expireAfterSeconds: seconds }) =>
    seconds === null || '_ts' in key ? [] : [{ name, seconds }],
  );
}

function figuresOf(known: Forecast, rules: readonly DateRule[], noun: string): Figure[] {
  const amount = ({ documents, bytes: size }: Amount) =>
    `${counted(documents, noun)}, ${bytes(size)}`;
  const { hour, day, week } = known.dies_within;
  const dead = known.unreaped_estimate;
  const oldest = `The oldest expired ${inWords(dead.oldest_dead_seconds)} ago.`;
  return [
    { name: 'Time to live', value: ruleWords(known.default, rules) },
    { name: 'Live', value: amount(known.live), ...(known.exact ? {} : { hint: 'about' }) },
    { name: 'Expires within an hour', value: amount(hour) },
    { name: 'Expires within a day', value: amount(day) },
    { name: 'Expires within a week', value: amount(week) },
    {
      name: 'Expired, not yet removed (estimate)',
      value: amount(dead),
      hint:
        dead.documents > 0 ? `${oldest} Queries never return them.` : 'Queries never return them.',
    },
  ];
}

export default function CollectionMetrics({ target }: { target: Target }) {
  const noun = target.door === 'nosql' ? 'item' : 'document';
  const known = usePolled(() => forecast(target), REFRESH_MS);
  const rules = usePolled(() => dateRules(target), RULES_MS);
  const hours = usePolled(() => series(target, HOUR.seconds, 24), REFRESH_MS);
  const days = usePolled(() => series(target, DAY.seconds, 30), REFRESH_MS);
  const chartFailure = hours.failure ?? days.failure;
  return (
    <div className="page metrics">
      <h2>Metrics</h2>
      {known.failure !== null && (
        <Failure error={known.failure} target={target} onAgain={known.again} />
      )}
      {known.value === null ? (
        known.failure === null && <p className="hint">Loading…</p>
      ) : (
        <Figures figures={figuresOf(known.value, rules.value ?? [], noun)} label="Figures" />
      )}
      <Storage target={target} />
      {chartFailure !== null && known.failure === null && <Failure error={chartFailure} />}
      <div className="metrics-charts">
        <ExpiryChart
          title={`${noun}s that expire per hour, next 24 hours`}
          series={hours.value}
          unit={HOUR}
          noun={noun}
        />
        <ExpiryChart
          title={`${noun}s that expire per day, next 30 days`}
          series={days.value}
          unit={DAY}
          noun={noun}
        />
      </div>
      {target.door === 'mongo' && <Running target={target} />}
      <SlowOperations target={target} />
    </div>
  );
}
