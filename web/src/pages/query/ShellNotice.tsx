// A notice about a shell call in the form: an unknown part, or another collection, with a link.

import type { Place, Target } from '../../state/place';
import { go } from '../../state/router';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { Problems } from './Problems';
import { addressOf } from './tabs/address';
import type { TakenApart } from './takeApart';
import type { ShellLine } from './useShellLine';

interface ElsewhereProps {
  target: Target;
  taken: TakenApart;
  onAccept: () => void;
}

function Elsewhere({ target, taken, onAccept }: ElsewhereProps) {
  const database = taken.database ?? target.database;
  const { collection } = taken;
  const isOtherDatabase = database !== target.database;
  const name = isOtherDatabase ? `${database} › ${collection}` : collection;
  const place: Place = { page: 'collection', view: 'query', door: 'mongo', database, collection };
  const parts = addressOf('mongo', { ...taken.form });
  return (
    <Banner look="warn">
      This command is for {name}, not {target.collection}.{' '}
      <Button
        disabled={parts === null}
        title={parts === null ? 'The command is too long for a link' : undefined}
        onClick={() => go(place, parts ?? {})}
      >
        Open Query of {name}
      </Button>{' '}
      <Button onClick={onAccept}>Run it on {target.collection}</Button>
    </Banner>
  );
}

export function ShellNotice({ target, line }: { target: Target; line: ShellLine }) {
  const { notice, isTyped } = line;
  if (isTyped)
    return <p className="hint query-hint">Shell command: Execute query converts it first.</p>;
  if (notice === null) return null;
  if ('error' in notice) return <Problems error={notice.error} text="" target={target} />;
  return <Elsewhere target={target} taken={notice.elsewhere} onAccept={notice.accept} />;
}
