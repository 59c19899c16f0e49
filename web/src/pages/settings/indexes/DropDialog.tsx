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
          Queries that use it look at {many} instead. To have it again, it has to be built anew over
          them. Hiding it shows first what that does to queries.
        </p>
        {index.all.unique === true && (
          <p>It is unique: values that no two documents have now may occur twice afterwards.</p>
        )}
        {index.expireAfterSeconds !== null && (
          <p>Documents no longer expire by this field. What has expired stays gone.</p>
        )}
        <Buttons label="Drop index" busy={busy} may danger failure={failure} onClose={onClose} />
      </form>
    </Dialog>
  );
}
