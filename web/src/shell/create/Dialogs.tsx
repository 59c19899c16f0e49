// Renders the open dialog of the frame.
import { Suspense } from 'react';
import { part } from '../../ui/part';
import type { Asked } from '../dialogs';
import { Duplicate } from '../whole/Duplicate';
import { Empty } from '../whole/Empty';
import { Rename } from '../whole/Rename';
import { Delete } from './Delete';
import { NewCollection } from './NewCollection';
import { NewContainer } from './NewContainer';
import { NewDatabase } from './NewDatabase';

const SeveralDialog = part(() => import('../../pages/settings/several/SeveralDialog'));

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
    case 'defaults':
      return (
        <Suspense fallback={null}>
          <SeveralDialog several={asked.several} onClose={onClose} />
        </Suspense>
      );
    case 'rename':
      return <Rename target={asked.target} onClose={onClose} />;
    case 'empty':
      return <Empty target={asked.target} onClose={onClose} />;
    case 'duplicate':
      return <Duplicate target={asked.target} onClose={onClose} />;
    case 'delete-database':
      return <Delete asked={asked} onClose={onClose} />;
    case 'delete-collection':
      return <Delete asked={{ kind: asked.kind, target: asked.target }} onClose={onClose} />;
  }
}
