// Explains a query of the NoSQL API by the metrics of its pages, and adds the advised index to the
// container's indexing policy.
import { type ContainerRecord, readContainer, replaceContainer } from '../../../api/nosql';
import { type NosqlAdvice, nosqlAdvice, nosqlPlan } from '../../../pure/explain/nosqlAdvice';
import type { Policy } from '../../../pure/explain/policy';
import type { Target } from '../../../state/place';
import { type NosqlFacts, parseIndexUse, parseQueryMetrics } from '../statistics';
import type { Explanation } from './explanation';
import { policyWith } from './policyWith';

const policyOf = (container: ContainerRecord) => (container.indexingPolicy ?? {}) as Policy;

function sums(pages: readonly NosqlFacts[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { metrics } of pages)
    for (const [name, value] of parseQueryMetrics(metrics))
      found.set(name, (found.get(name) ?? 0) + value);
  return found;
}

async function apply({ database, collection }: Target, advice: NosqlAdvice): Promise<string> {
  const container = await readContainer(database, collection);
  const indexingPolicy = { ...policyWith(policyOf(container), advice) };
  await replaceContainer(database, { ...container, indexingPolicy }, container._etag);
  const paths = advice.include.length === 0 ? [] : [advice.include.join(', ')];
  const composite = advice.composite === null ? [] : ['the composite index'];
  return `The indexing policy of ${collection} now includes ${[...paths, ...composite].join(' and ')}.`;
}

export async function nosqlExplanation(
  target: Target,
  text: string,
  pages: readonly NosqlFacts[],
): Promise<Explanation> {
  const container = await readContainer(target.database, target.collection);
  const metrics = sums(pages);
  const used = pages.map(({ indexMetrics }) => parseIndexUse(indexMetrics));
  const known = used.filter((one) => one !== null).flat();
  const indexes = used.some((one) => one !== null) ? [...new Set(known)] : null;
  const run = { text, metrics, indexes };
  const policy = policyOf(container);
  const advice = nosqlAdvice(run, policy);
  // With indexing off, adding a path has no effect.
  const isOff = policy.indexingMode?.toLowerCase() === 'none';
  const of = (name: string) => metrics.get(name) ?? null;
  return {
    plan: {
      root: pages.length === 0 ? null : nosqlPlan(run),
      keysExamined: null,
      documentsExamined: of('retrievedDocumentCount'),
      returned: of('outputDocumentCount'),
      ms: of('totalExecutionTimeInMs'),
    },
    indexes,
    advice:
      advice === null
        ? null
        : { sentence: advice.sentence, apply: isOff ? null : () => apply(target, advice) },
    note:
      'Figures reported by the server for the pages read. They assume that the indexing ' +
      'policy is fully built, as charges do. Paths are indexed on demand; the indexing ' +
      'policy in the settings shows which ones are built.',
  };
}
