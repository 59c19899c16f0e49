// Loads the collections of unopened databases, so that they can be found by name.
import { loadCollections, tree } from '../../state/tree';

/** Maximum number of databases loaded automatically. */
const LOOKED_INTO = 200;
const AT_ONCE = 4;

/** Loads a few at a time until stopped. */
export async function lookInto(stopped: () => boolean): Promise<void> {
  const unknown = tree.get().branches.filter((branch) => branch.collections === null);
  const waiting = unknown.slice(0, LOOKED_INTO);
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !stopped(); next = waiting.shift()) {
      await loadCollections(next.door, next.name);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
