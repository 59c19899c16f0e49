// Adds advised indexes to an indexing policy. Pure.
import type { NosqlAdvice } from '../../../pure/explain/nosqlAdvice';
import type { Policy } from '../../../pure/explain/policy';

/** Returns the policy with the paths and the composite index added; the rest is unchanged. */
export function policyWith(policy: Policy, { include, composite }: NosqlAdvice): Policy {
  const named = new Set(include);
  const isOther = ({ path }: { path: string }) => !named.has(path);
  const paths =
    include.length === 0
      ? {}
      : {
          includedPaths: [...(policy.includedPaths ?? []), ...include.map((path) => ({ path }))],
          // A path must not be in both lists.
          excludedPaths: (policy.excludedPaths ?? []).filter(isOther),
        };
  const indexes =
    composite === null ? {} : { compositeIndexes: [...(policy.compositeIndexes ?? []), composite] };
  return { ...policy, ...paths, ...indexes };
}
