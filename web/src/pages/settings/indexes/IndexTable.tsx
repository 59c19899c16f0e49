// Table of all indexes of a MongoDB collection, with actions. Executes nothing itself.
import type { IndexRecord } from '../../../api/mongo';
import { count } from '../../../pure/figures/amount';
import { utc } from '../../../pure/time/utc';
import { Button } from '../../../ui/Button';
import { BuildCell } from './BuildBar';
import type { Build } from './builds';
import { documentText, filterOf, isHidden, secondsInWords, traits, whyKept } from './indexWords';
import type { Uses } from './useUses';

export interface IndexTableProps {
  indexes: readonly IndexRecord[];
  /** null: not reported by the server. */
  uses: ReadonlyMap<string, Uses> | null;
  builds: ReadonlyMap<string, Build>;
  disabled: boolean;
  onHide: (index: IndexRecord) => void;
  onDrop: (index: IndexRecord) => void;
}

function Used({ uses }: { uses: Uses | undefined }) {
  if (uses === undefined) return null;
  const since = uses.sinceMs === null ? undefined : `Since ${utc(uses.sinceMs)}`;
  return <span title={since}>{count(uses.count)}</span>;
}

type LineProps = Omit<IndexTableProps, 'indexes'> & { index: IndexRecord };

function Line({ index, uses, builds, disabled, onHide, onDrop }: LineProps) {
  const why = whyKept(index);
  const isOff = disabled || why !== null;
  const hide = isHidden(index) ? 'Show' : 'Hide';
  return (
    <tr>
      <th scope="row">{index.name}</th>
      <td className="mono settings-text">{documentText(index.key)}</td>
      <td>{secondsInWords(index.expireAfterSeconds)}</td>
      <td>
        {traits(index)}
        <BuildCell name={index.name} builds={builds} />
      </td>
      <td className="mono settings-text">{filterOf(index)}</td>
      {uses !== null && (
        <td>
          <Used uses={uses.get(index.name)} />
        </td>
      )}
      <td className="settings-actions">
        <Button
          disabled={isOff}
          title={why ?? undefined}
          aria-label={`${hide} ${index.name}`}
          onClick={() => onHide(index)}
        >
          {hide}
        </Button>{' '}
        <Button
          look="danger"
          disabled={isOff}
          title={why ?? undefined}
          aria-label={`Drop ${index.name}`}
          onClick={() => onDrop(index)}
        >
          Drop
        </Button>
      </td>
    </tr>
  );
}

export function IndexTable({ indexes, ...rest }: IndexTableProps) {
  return (
    <div className="settings-scroll" role="region" tabIndex={0} aria-label="Indexes">
      <table className="settings-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Key</th>
            <th scope="col">Expires after</th>
            <th scope="col">State</th>
            <th scope="col">Partial filter</th>
            {rest.uses !== null && <th scope="col">Uses</th>}
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {indexes.map((index) => (
            <Line key={index.name} index={index} {...rest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
