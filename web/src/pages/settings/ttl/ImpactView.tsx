// Effect of changing the default, before it is saved: documents that expire immediately and in the
// next hour, day and week, compared with no change.
import type { Amount, Within } from '../../../api/admin';
import { bytes, count } from '../../../pure/figures/amount';
import { utc } from '../../../pure/time/utc';
import { databaseNow } from '../../../state/server';
import { expiresNow, type Nouns } from './impact';
import type { Impact, ImpactState } from './useImpact';

const SPANS: readonly { key: keyof Within; label: string }[] = [
  { key: 'hour', label: 'In the next hour' },
  { key: 'day', label: 'In the next day' },
  { key: 'week', label: 'In the next week' },
];

function amount({ documents, bytes: size }: Amount): string {
  return documents === 0 ? '0' : `${count(documents)} (${bytes(size)})`;
}

function Known({ impact, nouns }: { impact: Impact; nouns: Nouns }) {
  const { preview, value, now } = impact;
  const about = preview.exact && now.exact ? '' : ', about';
  const deadly = preview.dies_now.documents > 0;
  return (
    <>
      <p className={deadly ? 'settings-expiring' : undefined}>
        {expiresNow(preview, value, now.live, nouns)}
      </p>
      <table className="settings-table">
        <caption className="hint">{`${nouns.many} that expire${about}`}</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Current</th>
            <th scope="col">With this change</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Immediately</th>
            <td>0</td>
            <td>{amount(preview.dies_now)}</td>
          </tr>
          {SPANS.map(({ key, label }) => (
            <tr key={key}>
              <th scope="row">{label}</th>
              <td>{amount(now.dies_within[key])}</td>
              <td>{amount(preview.dies_within[key])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {value !== null && value > 0 && (
        <p className="hint">{`${nouns.one === 'item' ? 'An item' : 'A document'} written now would expire ${utc((databaseNow() ?? 0) + value * 1000)}.`}</p>
      )}
    </>
  );
}

export function ImpactView({ state, nouns }: { state: ImpactState; nouns: Nouns }) {
  return (
    <section className="settings-impact" aria-label="Effect of this change">
      <h2 className="settings-title">Effect of this change</h2>
      <div aria-live="polite" data-test="ttl-impact">
        {state.kind === 'asking' && <p className="hint">Calculating the effect…</p>}
        {state.kind === 'known' && <Known impact={state.impact} nouns={nouns} />}
        {state.kind === 'failed' && (
          <p className="error">{`The effect could not be calculated: ${state.text}`}</p>
        )}
      </div>
    </section>
  );
}
