// Which indexes of a collection are being built, looked at again as long as there are any.
import { useEffect, useRef, useState } from 'react';
import { type Document, run } from '../../../api/mongo';
import type { Target } from '../../../state/place';
import { type Build, buildsOf } from './builds';

/** From one answer to the next question. */
const EVERY_MS = 1000;

const NONE: ReadonlyMap<string, Build> = new Map();

/** `running`: this page waits for one. `onChange`: one has begun that was not known, or has ended. */
export function useBuilds(
  { database, collection }: Target,
  running: boolean,
  onChange: () => void,
): ReadonlyMap<string, Build> {
  const [builds, setBuilds] = useState(NONE);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let known = '';
    const ns = `${database}.${collection}`;
    const look = async () => {
      const command = { currentOp: 1, ns, 'command.createIndexes': collection };
      // Who may not see the operations of others sees no progress, which is nobody's failure.
      const found = await run('admin', command, { quiet: true, aside: true }).then(
        ({ inprog }) => buildsOf(inprog as Document[]),
        () => NONE,
      );
      if (over) return;
      setBuilds(found);
      const names = [...found.keys()].sort().join('\n');
      if (names !== known) latest.current();
      known = names;
      if (running || found.size > 0) timer = setTimeout(() => void look(), EVERY_MS);
    };
    void look();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [database, collection, running]);
  return builds;
}
