// What of the whole account lives, and dies in the next hour and day, as numbers. A chart of the
// same series has its place below them.
import { type ReactNode, useEffect, useState } from 'react';
import { accountSeries, type AccountSeries, type Amount } from '../../api/admin';
import { ApiError, words } from '../../api/http';
import { bytes, count } from '../../pure/amount';
import { useServerChanges } from '../../state/server';

const STEP_SECONDS = 3600;
const STEPS = 24;
const AGAIN_MS = 10_000;

function useAccountSeries() {
  const changes = useServerChanges();
  const [series, setSeries] = useState<AccountSeries | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const found = await accountSeries(STEP_SECONDS, STEPS);
        if (stopped) return;
        setSeries(found);
        setFailure(null);
      } catch (error) {
        if (stopped) return;
        const isMissing = error instanceof ApiError && error.status === 404;
        setFailure(isMissing ? 'This server has no forecast of the account.' : words(error));
        if (isMissing) return;
      }
      timer = setTimeout(() => void ask(), AGAIN_MS);
    };
    void ask();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [changes]);
  return { series, failure };
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

export interface AccountForecastProps {
  chart?: (series: AccountSeries) => ReactNode;
}

export function AccountForecast({ chart }: AccountForecastProps) {
  const { series, failure } = useAccountSeries();
  return (
    <section className="home-card" aria-label="Forecast of the account">
      <h2>What dies soon</h2>
      {failure !== null && (
        <p className="error" role="alert">
          {failure}
        </p>
      )}
      {series === null && failure === null && <p className="hint">Loading…</p>}
      {series !== null && (
        <>
          <dl className="home-numbers">
            <Figure label="Live documents" amount={series.live} exact={series.exact} />
            <Figure
              label="Die within an hour"
              amount={sum(series.steps.slice(0, 1))}
              exact={series.exact}
            />
            <Figure label="Die within a day" amount={sum(series.steps)} exact={series.exact} />
            <Figure
              label="Dead bytes, not yet reaped (estimate)"
              amount={series.unreaped_estimate}
              exact={false}
            />
          </dl>
          {chart?.(series)}
        </>
      )}
    </section>
  );
}
