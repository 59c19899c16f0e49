// Shows the dialog that was asked for.
import type { Asked } from '../dialogs';
import { Delete } from './Delete';
import { NewCollection } from './NewCollection';
import { NewContainer } from './NewContainer';
import { NewDatabase } from './NewDatabase';

export default function Dialogs({ asked, onClose }: { asked: Asked; onClose: () => void }) {
  switch (asked.kind) {
    case 'database':
      return <NewDatabase onClose={onClose} />;
    case 'collection':
      return asked.door === 'nosql' ? (
        <NewContainer database={asked.database} onClose={onClose} />
      ) : (
        <NewCollection database={asked.database} onClose={onClose} />
      );
    case 'delete-database':
    case 'delete-collection':
      return <Delete asked={asked} onClose={onClose} />;
  }
}
