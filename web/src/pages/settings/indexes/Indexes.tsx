// All indexes of a MongoDB collection: create, hide, show and drop immediately, independent of Save
// and Discard.
import { useState } from 'react';
import { words } from '../../../api/http';
import { type Document, type IndexRecord, run } from '../../../api/mongo';
import { bytes } from '../../../pure/figures/amount';
import { toast } from '../../../state/log';
import type { Target } from '../../../state/place';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import type { Loaded } from '../frame/useLoaded';
import { somebodyWasFaster } from '../useCollection';
import { DropDialog } from './DropDialog';
import { IndexTable } from './IndexTable';
import { isHidden } from './indexWords';
import { NewIndexDialog } from './NewIndexDialog';
import { useBuilds } from './useBuilds';
import { useIndexBytes, useUses } from './useUses';

export interface IndexesProps {
  target: Target;
  loaded: Loaded<IndexRecord[]>;
  indexes: readonly IndexRecord[];
  disabled: boolean;
}

export function Indexes({ target, loaded, indexes, disabled }: IndexesProps) {
  const { database, collection } = target;
  const [asked, ask] = useState<IndexRecord | 'new' | null>(null);
  const [notice, setNotice] = useState<string | null>(null);
  const [running, setRunning] = useState(0);
  const uses = useUses(target, indexes);
  const size = useIndexBytes(target, indexes) ?? 0;
  const builds = useBuilds(target, running > 0, () => void loaded.reload());
  const change = async (command: Document, done: string) => {
    setNotice(null);
    // Does not close a dialog that has been opened since.
    const close = () => ask((known) => (known === asked ? null : known));
    try {
      await run(database, command);
      toast({ text: done });
    } catch (error) {
      const gone = loaded.notice(error);
      if (!gone && !somebodyWasFaster(error)) throw error;
      await loaded.reload();
      if (!gone && asked === 'new') throw error;
      const now = 'Someone else has changed this; the current state is shown.';
      setNotice(`${now} ${words(error)}`);
      close();
      return;
    }
    close();
    await loaded.reload();
  };
  const create = async (index: Document) => {
    setRunning((known) => known + 1);
    try {
      await change(
        { createIndexes: collection, indexes: [index] },
        `Successfully created index ${String(index.name)}`,
      );
    } finally {
      setRunning((known) => known - 1);
    }
  };
  const hide = (index: IndexRecord) => {
    const hidden = !isHidden(index);
    const command = { collMod: collection, index: { name: index.name, hidden } };
    const done = `Index ${index.name} is ${hidden ? 'hidden from' : 'shown to'} queries`;
    change(command, done).catch((error: unknown) => setNotice(words(error)));
  };
  return (
    <>
      {notice !== null && <Banner look="bad">{notice}</Banner>}
      <div className="row settings-new">
        <Button disabled={disabled} onClick={() => ask('new')}>
          New index
        </Button>
      </div>
      <IndexTable
        indexes={indexes}
        uses={uses}
        builds={builds}
        disabled={disabled}
        onHide={hide}
        onDrop={ask}
      />
      {size > 0 && <p className="hint">The indexes take {bytes(size)} together.</p>}
      {asked === 'new' && (
        <NewIndexDialog target={target} builds={builds} onSave={create} onClose={() => ask(null)} />
      )}
      {asked !== null && asked !== 'new' && (
        <DropDialog
          target={target}
          index={asked}
          onDrop={() =>
            change(
              { dropIndexes: collection, index: asked.name },
              `Successfully dropped index ${asked.name}`,
            )
          }
          onClose={() => ask(null)}
        />
      )}
    </>
  );
}
