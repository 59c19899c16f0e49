// Fields of a collection, sampled from a few documents; loaded on completion and refreshed after a
// while.
import * as mongo from '../../api/mongo';
import * as nosql from '../../api/nosql';
import type { SampledField } from '../../pure/completion/candidates';
import { sampleFacts } from '../../pure/schema/fields';
import { partsOfPath } from '../../pure/values/path';
import type { Target } from '../../state/place';

const SAMPLE = 50;
const FRESH_MS = 60_000;
/** Maximum wait while typing. */
const PATIENCE_MS = 800;
/** Retry delay after a failure. */
const AGAIN_MS = 3000;

interface Known {
  at: number;
  fields: Promise<readonly SampledField[]>;
}

const known = new Map<string, Known>();

async function sample({ door, database, collection }: Target): Promise<unknown[]> {
  if (door === 'nosql') {
    const at = { database, container: collection };
    const text = `SELECT TOP ${SAMPLE} * FROM c`;
    return (await nosql.query(at, text, { maxItems: SAMPLE, quiet: true })).rows;
  }
  const command = { find: collection, limit: SAMPLE, singleBatch: true };
  return (await mongo.open(database, command, { quiet: true })).documents;
}

/** Whether the printed value is complete and usable in a query: long values are truncated. */
const isWhole = (text: string) => text !== 'null' && !text.endsWith('…');

async function read(target: Target): Promise<readonly SampledField[]> {
  const { fields } = sampleFacts(await sample(target), target.door);
  return fields.map(({ path, share, kinds, top }) => ({
    parts: partsOfPath(path),
    share,
    kind: kinds[0]?.value ?? 'missing',
    values: top.map(({ value }) => value).filter(isWhole),
  }));
}

/** Returns the sampled fields, however long that takes. */
export function allFieldsOf(target: Target): Promise<readonly SampledField[]> {
  const name = `${target.door}/${target.database}/${target.collection}`;
  const now = performance.now();
  let found = known.get(name);
  if (found === undefined || now - found.at > FRESH_MS) {
    const made: Known = { at: now, fields: read(target) };
    made.fields = made.fields.catch(() => {
      // Offer keywords without fields, and retry soon.
      made.at = performance.now() - FRESH_MS + AGAIN_MS;
      return [];
    });
    known.set(name, made);
    found = made;
  }
  return found.fields;
}

/** Returns the sampled fields, or none if that takes too long. */
export function fieldsOf(target: Target): Promise<readonly SampledField[]> {
  const late = new Promise<readonly SampledField[]>((resolve) => {
    setTimeout(() => resolve([]), PATIENCE_MS);
  });
  return Promise.race([allFieldsOf(target), late]);
}
