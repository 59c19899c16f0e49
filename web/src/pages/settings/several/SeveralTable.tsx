// Table of collections: current default, documents that expire immediately, and outcome.
import { count } from '../../../pure/figures/amount';
import { defaultInWords } from '../../../pure/ttl/input';
import type { Nouns } from '../ttl/impact';
import type { Look, Looks, Result } from './looks';

function dying(look: Look | undefined): string {
  if (look === undefined) return '…';
  if ('failure' in look) return 'unknown';
  const { documents } = look.preview.dies_now;
  return `${look.preview.exact ? '' : 'about '}${count(documents)}`;
}

function Ended({ result }: { result: Result | undefined }) {
  if (result === undefined) return <>waits</>;
  if (result.kind === 'failed') return <span className="error">Failed: {result.text}</span>;
  return <>{result.kind === 'set' ? 'Set' : 'Already set'}</>;
}

export interface SeveralTableProps {
  nouns: Nouns;
  names: readonly string[];
  looks: Looks | null;
  /** null: not started. */
  results: ReadonlyMap<string, Result> | null;
}

export function SeveralTable({ nouns, names, looks, results }: SeveralTableProps) {
  return (
    <div
      className="settings-several"
      role="region"
      tabIndex={0}
      aria-label={`Chosen ${nouns.place}s`}
    >
      <table className="settings-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            {results === null && <th scope="col">Current default</th>}
            {results === null && <th scope="col">Expire immediately</th>}
            {results !== null && <th scope="col">Result</th>}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const look = looks?.get(name);
            return (
              <tr key={name}>
                <th scope="row" className="name">
                  {name}
                </th>
                {results === null && (
                  <td>
                    {look === undefined
                      ? '…'
                      : 'failure' in look
                        ? look.failure
                        : defaultInWords(look.facts.default)}
                  </td>
                )}
                {results === null && <td>{dying(look)}</td>}
                {results !== null && (
                  <td>
                    <Ended result={results.get(name)} />
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
