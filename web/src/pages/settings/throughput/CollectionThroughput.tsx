// Throughput of a MongoDB collection: changed immediately, independent of Save and Discard.
import { useCallback, useState } from 'react';
import { type Document, run } from '../../../api/mongo';
import { toast } from '../../../state/log';
import type { Target } from '../../../state/place';
import { Button } from '../../../ui/Button';
import { useLoaded } from '../frame/useLoaded';
import { useSubmit } from '../indexes/dialogForm';
import { ENFORCED, ThroughputFields } from './ThroughputFields';
import {
  argumentOf,
  DEFAULT_DRAFT,
  provisionedIn,
  readThroughput,
  type ThroughputDraft,
} from './throughput';

interface Provisioned {
  own: ThroughputDraft | null;
  /** Throughput that the collections of the database share. */
  shared: ThroughputDraft | null;
}

async function load({ database, collection }: Target): Promise<Provisioned> {
  const ask = (command: Document) => run(database, command, { quiet: true });
  const [own, shared] = await Promise.all([
    ask({ customAction: 'GetCollection', collection }),
    ask({ customAction: 'GetDatabase' }),
  ]);
  return { own: provisionedIn(own), shared: provisionedIn(shared) };
}

/** Describes where the throughput of a collection without its own comes from. */
function sourceInWords(database: string, { own, shared }: Provisioned): string | null {
  if (own !== null) return null;
  return shared === null
    ? 'This collection has no provisioned throughput.'
    : `This collection shares the throughput of the database ${database}. Setting one here reserves it for this collection alone.`;
}

export function CollectionThroughput({ target, disabled }: { target: Target; disabled: boolean }) {
  const { database, collection } = target;
  const loaded = useLoaded(useCallback(() => load(target), [target]));
  const [edited, setEdited] = useState<ThroughputDraft | null>(null);
  const saved = loaded.value?.own ?? null;
  const draft = edited ?? saved ?? DEFAULT_DRAFT;
  const read = readThroughput(draft);
  const { busy, failure, submit } = useSubmit(async () => {
    if (!('value' in read)) return;
    const change = { customAction: 'UpdateCollection', collection, ...argumentOf(read.value) };
    try {
      await run(database, change);
    } catch (error) {
      if (loaded.notice(error)) return;
      throw error;
    }
    setEdited(null);
    await loaded.reload();
    toast({ text: `Successfully updated the throughput of ${collection}` });
  });
  if (loaded.value === null) {
    return loaded.failure === null ? null : (
      <p className="error" role="alert">
        {`The throughput could not be read: ${loaded.failure}`}
      </p>
    );
  }
  const changed = saved === null || saved.mode !== draft.mode || saved.text !== draft.text.trim();
  const source = sourceInWords(database, loaded.value);
  return (
    <form onSubmit={(event) => void submit(event)}>
      {source !== null && <p>{source}</p>}
      <ThroughputFields
        draft={draft}
        changed={saved !== null && changed}
        disabled={disabled || busy}
        onDraft={setEdited}
      />
      <p className="hint">{ENFORCED}</p>
      {failure !== null && (
        <p className="error" role="alert">
          {failure}
        </p>
      )}
      <Button type="submit" busy={busy} disabled={disabled || !changed || 'error' in read}>
        Set throughput
      </Button>
    </form>
  );
}
