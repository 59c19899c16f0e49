// Live documents of the whole account, and documents that expire within an hour and a day, as
// numbers and bars.
import { Hourglass } from 'lucide-react';
import { type Amount, accountSeries } from '../../api/admin';
import { ApiError, words } from '../../api/http';
import { bytes, count } from '../../pure/figures/amount';
import { usePolled } from '../../state/polled';
import { Skeleton } from '../../ui/Skeleton';
import { ExpiryChart } from '../metrics/ExpiryChart';
import { HOUR } from '../metrics/steps';

const STEP_SECONDS = 3600;
const STEPS = 24;
const AGAIN_MS = 10_000;

function said(failure: unknown): string {
  const isMissing = failure instanceof ApiError && failure.status === 404;
  return isMissing ? 'This server provides no account forecast.' : words(failure);
}

function sum(steps: readonly Amount[]): Amount {
  return steps.reduce(
    (all, step) => ({ documents: all.documents + step.documents, bytes: all.bytes + step.bytes }),
    { documents: 0, bytes: 0 },
  );
}

function Figure({ label, amount, exact }: { label: string; amount: Amount; exact: boolean }) {
  return (
    <div className="home-figure">
      <dt>{label}</dt>
      <dd>
        <strong>
          {exact ? '' : 'about '}
          {count(amount.documents)}
        </strong>{' '}
        <span className="hint">{bytes(amount.bytes)}</span>
      </dd>
    </div>
  );
}

export function AccountForecast() {
  const { value: series, failure } = usePolled(() => accountSeries(STEP_SECONDS, STEPS), AGAIN_MS);
  return (
    <section className="home-card" aria-label="Account forecast">
      <h2>
        <Hourglass className="icon" />
        Expiring soon
      </h2>
      {failure !== null && (
        <p className="error" role="alert">
          {said(failure)}
        </p>
      )}
      {series === null && failure === null && <Skeleton lines={6} />}
      {series !== null && (
        <>
          <dl className="home-numbers">
            <Figure label="Live documents" amount={series.live} exact={series.exact} />
            <Figure
              label="Expire within an hour"
              amount={sum(series.steps.slice(0, 1))}
              exact={series.exact}
            />
            <Figure label="Expire within a day" amount={sum(series.steps)} exact={series.exact} />
            <Figure
              label="Expired, not yet removed (estimate)"
              amount={series.unreaped_estimate}
              exact={false}
            />
          </dl>
          <ExpiryChart title="Expirations per hour" series={series} unit={HOUR} />
        </>
      )}
    </section>
  );
}
