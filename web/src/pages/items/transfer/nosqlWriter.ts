// Writes imported items to a container in batches of a hundred, with an outcome for each item.
// Items are sent as written, so that numbers are preserved.
import { UUID } from 'bson';
import * as nosql from '../../../api/nosql';
import { nodeAtPath } from '../../../pure/exporting/cells';
import { finishItem } from '../../../pure/importing/finish';
import { entryOf, type JsonEntry, type JsonNode } from '../../../pure/json/tree';
import type { Target } from '../../../state/place';
import { partsOf } from '../keyPath';
import {
  type Entry,
  nothingWritten,
  type OnExisting,
  refusal,
  takenWords,
  type Writer,
  type Written,
} from './writer';

export interface Item {
  text: string;
  id: string;
  /** JSON of the partition key, as in the header. */
  key: string;
}

const CONFLICT = 409;
/** Message of the other conflict: a duplicate value in a unique key. */
const UNIQUE_KEY = /unique index/i;
/** Statuses after which the same item can be sent again. */
const FOR_THE_MOMENT: ReadonlySet<number> = new Set([429, 449]);
const PAUSE_MS = 250;

/** Adds a generated id if the item has none. */
function withId(node: JsonNode): JsonNode {
  if (node.kind !== 'object' || entryOf(node, 'id') !== null) return node;
  const text = JSON.stringify(new UUID().toHexString());
  const id = { key: 'id', keyText: '"id"', at: node.at, value: { kind: 'plain', at: 0, text } };
  return { ...node, entries: [id as JsonEntry, ...node.entries] };
}

/** Returns the JSON of the partition key; the server validates it. */
function keyOf(node: JsonNode, paths: readonly (readonly string[])[]): string {
  const values = paths.map((parts) => {
    const value = nodeAtPath(node, parts);
    return value?.kind === 'plain' ? value.text : '{}';
  });
  return `[${values.join(',')}]`;
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

export class NosqlWriter implements Writer<Item> {
  /** The server's limits of a batch. */
  readonly most = { documents: 100, characters: 1_500_000 };
  private readonly at: nosql.Place;
  private readonly paths: readonly (readonly string[])[];

  constructor(
    target: Target,
    container: nosql.ContainerRecord,
    private readonly onExisting: OnExisting,
  ) {
    this.at = { database: target.database, container: target.collection };
    this.paths = container.partitionKey.paths.map(partsOf);
  }

  readonly finish = (node: JsonNode): Item => {
    const whole = withId(node);
    const text = finishItem(whole);
    const id = entryOf(whole, 'id')?.value;
    return { text, id: id?.kind === 'plain' ? id.text : '', key: keyOf(whole, this.paths) };
  };

  idOf({ id }: Item): string {
    return id;
  }

  async write(entries: readonly Entry<Item>[], signal: AbortSignal): Promise<Written> {
    const kind = this.onExisting === 'replace' ? 'Upsert' : 'Create';
    const written = nothingWritten();
    let left = entries;
    for (;;) {
      const items = left.map(({ value }) => value);
      const outcomes = await nosql.writeMany(this.at, kind, items, signal);
      const again: Entry<Item>[] = [];
      for (const [at, entry] of left.entries()) {
        const { statusCode, message } = outcomes[at] ?? { statusCode: 0 };
        if (statusCode === 201) written.made += 1;
        else if (statusCode === 200) written.replaced += 1;
        else if (FOR_THE_MOMENT.has(statusCode)) again.push(entry);
        else if (statusCode !== CONFLICT || UNIQUE_KEY.test(message ?? '')) {
          const why = message ?? `The server responded with status ${statusCode}.`;
          written.refused.push(refusal(entry, why));
        } else if (this.onExisting === 'skip') written.skipped += 1;
        else written.refused.push(refusal(entry, takenWords(entry.value.id)));
      }
      if (again.length === 0) return written;
      left = again;
      await pause(signal);
    }
  }
}
