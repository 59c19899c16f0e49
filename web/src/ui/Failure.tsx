// An error message, with a hint if the target was deleted. Never discards user input.
import { useState } from 'react';
import { ApiError, words } from '../api/http';
import type { Target } from '../state/place';
import { useUnsaid } from '../state/server';
import { loadTreeWith } from '../state/tree';
import { Banner } from './Banner';
import { Button } from './Button';
import { PlaceLink } from './PlaceLink';

export interface FailureProps {
  error: unknown;
  /** The target of the failed request, if it may have been deleted. */
  target?: Target;
  onAgain?: () => void;
}

export function Failure({ error, target, onAgain }: FailureProps) {
  const [busy, setBusy] = useState(false);
  const said = useUnsaid(words(error));
  const isTooMuch = error instanceof ApiError && error.status === 429;
  const gone = error instanceof ApiError && error.status === 404 && target !== undefined;
  if (said === null) return null;
  return (
    <Banner look="bad">
      <span>{said}</span>
      {gone && (
        <>
          <span>"{target.collection}" may have been deleted.</span>
          <Button
            busy={busy}
            onClick={() => {
              setBusy(true);
              void loadTreeWith(target).finally(() => setBusy(false));
            }}
          >
            Reload the tree
          </Button>
        </>
      )}
      {isTooMuch && target?.door === 'nosql' && (
        <span>
          The request was retried, but the throughput did not suffice. Increase it in{' '}
          <PlaceLink to={{ page: 'collection', view: 'settings', ...target }}>
            Scale &amp; settings
          </PlaceLink>
          .
        </span>
      )}
      {onAgain !== undefined && <Button onClick={onAgain}>Try again</Button>}
    </Banner>
  );
}
