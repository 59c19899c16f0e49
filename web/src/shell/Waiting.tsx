// A banner while requests are throttled and wait for a retry.
import { waiting } from '../api/patience';
import { useStore } from '../state/store';
import { Banner } from '../ui/Banner';
import { useLasting } from '../ui/useLasting';

/** Shorter waits are not shown. */
const NOTICED_MS = 250;

export function Waiting() {
  const shown = useLasting(useStore(waiting) > 0, NOTICED_MS);
  if (!shown) return null;
  return (
    <Banner look="warn">
      Rate limited (429) by the server or the provisioned throughput. Requests are retried
      automatically.
    </Banner>
  );
}
