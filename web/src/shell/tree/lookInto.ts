// Asks what lies in databases that were never opened, so that what lies there can be found by name.
import { loadCollections, tree } from '../../state/tree';

/** How many databases are looked into without being told. */
const LOOKED_INTO = 200;
const AT_ONCE = 4;

/** A few at once, until it is stopped. */
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
