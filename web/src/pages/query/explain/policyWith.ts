// An indexing policy with what is advised. Pure.
import type { NosqlAdvice } from '../../../pure/explain/nosqlAdvice';
import type { Policy } from '../../../pure/explain/policy';

/** The policy with the paths and the composite index; all else in it stays. */
export function policyWith(policy: Policy, { include, composite }: NosqlAdvice): Policy {
  const named = new Set(include);
  const isOther = ({ path }: { path: string }) => !named.has(path);
  const paths =
    include.length === 0
      ? {}
      : {
          includedPaths: [...(policy.includedPaths ?? []), ...include.map((path) => ({ path }))],
          // One path cannot be in both lists.
          excludedPaths: (policy.excludedPaths ?? []).filter(isOther),
        };
  const indexes =
    composite === null ? {} : { compositeIndexes: [...(policy.compositeIndexes ?? []), composite] };
  return { ...policy, ...paths, ...indexes };
}
