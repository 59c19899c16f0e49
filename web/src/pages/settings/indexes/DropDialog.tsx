// Confirmation of dropping an index, with the effect. Drops nothing itself.
import { useEffect, useState } from 'react';
import { forecast } from '../../../api/admin';
import type { IndexRecord } from '../../../api/mongo';
import { counted } from '../../../pure/figures/amount';
import type { Target } from '../../../state/place';
import { Dialog } from '../../../ui/Dialog';
import { Buttons, useSubmit } from './dialogForm';

export interface DropDialogProps {
  target: Target;
  index: IndexRecord;
  onDrop: () => Promise<void>;
  onClose: () => void;
}

/** Returns the number of documents in the collection; null: not known. */
function useLive({ door, database, collection }: Target): number | null {
  const [live, setLive] = useState<number | null>(null);
  useEffect(() => {
    forecast({ door, database, collection }).then(
      (known) => setLive(known.live.documents),
      () => undefined,
    );
  }, [door, database, collection]);
  return live;
}

export function DropDialog({ target, index, onDrop, onClose }: DropDialogProps) {
  const { busy, failure, submit } = useSubmit(onDrop);
  const live = useLive(target);
  const many = live === null ? 'all documents' : counted(live, 'document');
  return (
    <Dialog title={`Drop the index ${index.name}?`} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p>
          Queries that use it will scan {many} instead, and creating it again means building it over
          them. Hide it first to see the effect on queries.
        </p>
        {index.all.unique === true && (
          <p>It is unique: duplicate values become possible once it is dropped.</p>
        )}
        {index.expireAfterSeconds !== null && (
          <p>Documents no longer expire by this field. Expired documents are not restored.</p>
        )}
        <Buttons label="Drop index" busy={busy} may danger failure={failure} onClose={onClose} />
      </form>
    </Dialog>
  );
}
