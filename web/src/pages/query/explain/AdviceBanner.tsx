// A banner with the missing index of a query, and a button that creates it and runs the query
// again.
import { useState } from 'react';
import { mayWrite, session } from '../../../api/session';
import { toast } from '../../../state/log';
import { useStore } from '../../../state/store';
import { Banner } from '../../../ui/Banner';
import { Button } from '../../../ui/Button';
import { Failure } from '../../../ui/Failure';
import { READ_ONLY } from '../../items/source';
import type { Advice } from './explanation';

export interface AdviceBannerProps {
  advice: Advice;
  onApplied: () => void;
}

export function AdviceBanner({ advice, onApplied }: AdviceBannerProps) {
  const writable = mayWrite(useStore(session));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const { apply } = advice;
  const press = async () => {
    if (apply === null) return;
    setBusy(true);
    setFailure(null);
    try {
      toast({ text: await apply() });
      onApplied();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Banner look="warn">
        <span>{advice.sentence}</span>
        {apply !== null && (
          <Button
            busy={busy}
            disabled={!writable}
            title={writable ? undefined : READ_ONLY}
            onClick={() => void press()}
          >
            Create and run again
          </Button>
        )}
      </Banner>
      {failure !== null && <Failure error={failure} />}
    </>
  );
}
