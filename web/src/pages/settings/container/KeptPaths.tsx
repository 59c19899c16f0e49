// Read-only list of a container's indexed paths, since when and why.
import { useCallback, useEffect } from 'react';
import { indexes, type KeptIndex } from '../../../api/admin';
import type { Target } from '../../../state/place';
import { Button } from '../../../ui/Button';
import { useLoaded } from '../frame/useLoaded';
import { instantInWords, keptInWords, whyInWords } from './keptWords';

/** See docs/compat/cosmos-nosql.md, indexing policies. */
const NONE_YET =
  'No path is indexed yet. A path that the policy includes by a wildcard is indexed once a query scans ' +
  'more than 1,000 items. Plans and charges already assume the whole policy.';

/** Polling interval while indexes are being built. */
const EVERY_MS = 1000;

function Line({ index }: { index: KeptIndex }) {
  return (
    <tr>
      <th scope="row" className="mono settings-text">
        {index.paths.join(', ')}
      </th>
      <td>{index.state === 'ready' ? 'Indexed' : 'Being built'}</td>
      <td>{whyInWords(index.why)}</td>
      <td>{instantInWords(index.since_seconds)}</td>
      <td>{instantInWords(index.used_seconds)}</td>
      <td>{index.uses}</td>
    </tr>
  );
}

function Table({ kept }: { kept: readonly KeptIndex[] }) {
  return (
    <div className="settings-scroll" role="region" tabIndex={0} aria-label="Indexed paths">
      <table className="settings-table">
        <thead>
          <tr>
            <th scope="col">Path</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col">Since</th>
            <th scope="col">Last used</th>
            <th scope="col">Uses since server start</th>
          </tr>
        </thead>
        <tbody>
          {kept.map((index) => (
            <Line key={`${index.why} ${index.paths.join()}`} index={index} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function KeptPaths({ target }: { target: Target }) {
  const { door, database, collection } = target;
  const { value, failure, reload } = useLoaded(
    useCallback(() => indexes({ door, database, collection }), [door, database, collection]),
  );
  useEffect(() => {
    if (value === null || value.progress === 100) return;
    const timer = setTimeout(() => void reload(), EVERY_MS);
    return () => clearTimeout(timer);
  }, [value, reload]);
  if (value === null) return failure === null ? null : <p className="error">{failure}</p>;
  const { kept, progress, unused_days } = value;
  return (
    <section aria-label="Indexed paths">
      <h2 className="settings-title">Indexed paths</h2>
      <p className="hint">{keptInWords(progress, unused_days)}</p>
      {progress < 100 && (
        <span className="settings-build">
          <progress aria-label="Progress of indexed paths" max={100} value={progress} />
        </span>
      )}
      {kept.length === 0 ? <p>{NONE_YET}</p> : <Table kept={kept} />}
      <div className="row">
        <Button onClick={() => void reload()}>Refresh paths</Button>
      </div>
    </section>
  );
}
