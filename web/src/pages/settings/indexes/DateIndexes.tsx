// TTL indexes on dates of a MongoDB collection: a table, and dialogs to create, change and drop one
// immediately, independent of Save and Discard.
import { Int32 } from 'bson';
import { useState } from 'react';
import { words } from '../../../api/http';
import { type Document, type IndexRecord, run } from '../../../api/mongo';
import { say } from '../../../state/log';
import type { Target } from '../../../state/place';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import type { Loaded } from '../frame/useLoaded';
import { somebodyWasFaster } from '../useCollection';
import { BuildCell } from './BuildBar';
import type { Build } from './builds';
import { DateIndexDialog, DropIndexDialog } from './DateIndexDialog';
import { filterOf, isHidden, secondsInWords } from './indexWords';
import { dateIndexName, isDateIndex } from './ttlIndex';
import { useBuilds } from './useBuilds';

export interface DateIndexesProps {
  target: Target;
  loaded: Loaded<IndexRecord[]>;
  indexes: readonly IndexRecord[];
  disabled: boolean;
}

type Asked = { kind: 'new' } | { kind: 'change' | 'drop'; index: IndexRecord };

function commandOf(collection: string, asked: Asked, field: string, seconds: number): Document {
  const expireAfterSeconds = new Int32(seconds);
  switch (asked.kind) {
    case 'new': {
      const made = {
        key: { [field]: new Int32(1) },
        name: dateIndexName(field),
        expireAfterSeconds,
      };
      return { createIndexes: collection, indexes: [made] };
    }
    case 'change':
      return { collMod: collection, index: { name: asked.index.name, expireAfterSeconds } };
    case 'drop':
      return { dropIndexes: collection, index: asked.index.name };
  }
}

const DONE = { new: 'created', change: 'changed', drop: 'dropped' };

function Table(props: {
  dates: readonly IndexRecord[];
  builds: ReadonlyMap<string, Build>;
  disabled: boolean;
  onAsk: (asked: Asked) => void;
}) {
  const { dates, builds, disabled, onAsk } = props;
  if (dates.length === 0) return <p>None.</p>;
  return (
    <div className="settings-scroll" role="region" tabIndex={0} aria-label="Date TTL indexes">
      <table className="settings-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Field</th>
            <th scope="col">Expires after</th>
            <th scope="col">Partial filter</th>
            <th scope="col">Hidden</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {dates.map((index) => (
            <tr key={index.name}>
              <th scope="row">{index.name}</th>
              <td className="mono settings-text">{Object.keys(index.key).join(', ')}</td>
              <td>
                {secondsInWords(index.expireAfterSeconds)}
                <BuildCell name={index.name} builds={builds} />
              </td>
              <td className="mono settings-text">{filterOf(index)}</td>
              <td>{isHidden(index) ? 'yes' : 'no'}</td>
              <td className="settings-actions">
                <Button
                  disabled={disabled}
                  aria-label={`Edit retention of ${index.name}`}
                  onClick={() => onAsk({ kind: 'change', index })}
                >
                  Edit retention
                </Button>{' '}
                <Button
                  look="danger"
                  disabled={disabled}
                  aria-label={`Drop ${index.name}`}
                  onClick={() => onAsk({ kind: 'drop', index })}
                >
                  Drop
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function DateIndexes({ target, loaded, indexes, disabled }: DateIndexesProps) {
  const [asked, ask] = useState<Asked | null>(null);
  const [notice, setNotice] = useState<string | null>(null);
  const [running, setRunning] = useState(0);
  const builds = useBuilds(target, running > 0, () => void loaded.reload());
  const apply = async (field: string, seconds: number) => {
    if (asked === null) return;
    setNotice(null);
    // Does not close a dialog that has been opened since.
    const close = () => ask((known) => (known === asked ? null : known));
    setRunning((known) => known + 1);
    try {
      await run(target.database, commandOf(target.collection, asked, field, seconds));
    } catch (error) {
      const gone = loaded.notice(error);
      if (!gone && !somebodyWasFaster(error)) throw error;
      await loaded.reload();
      // If the name of a new index exists, the dialog keeps its input.
      if (!gone && asked.kind === 'new') throw error;
      close();
      setNotice(`Someone else has changed this; the current state is shown. ${words(error)}`);
      return;
    } finally {
      setRunning((known) => known - 1);
    }
    const name = asked.kind === 'new' ? dateIndexName(field) : asked.index.name;
    say({ kind: 'done', text: `Successfully ${DONE[asked.kind]} index ${name}` });
    close();
    await loaded.reload();
  };
  return (
    <>
      <p className="hint">
        Documents expire a fixed time after the date in an indexed field. This applies in addition
        to the collection’s default and a document’s own “ttl”; the earliest deadline wins.
      </p>
      {notice !== null && <Banner look="bad">{notice}</Banner>}
      <Table dates={indexes.filter(isDateIndex)} builds={builds} disabled={disabled} onAsk={ask} />
      <div className="row">
        <Button disabled={disabled} onClick={() => ask({ kind: 'new' })}>
          New date TTL index
        </Button>
      </div>
      {asked !== null && asked.kind !== 'drop' && (
        <DateIndexDialog
          target={target}
          index={asked.kind === 'new' ? null : asked.index}
          builds={builds}
          onSave={apply}
          onClose={() => ask(null)}
        />
      )}
      {asked?.kind === 'drop' && (
        <DropIndexDialog
          index={asked.index}
          onDrop={() => apply('', 0)}
          onClose={() => ask(null)}
        />
      )}
    </>
  );
}
