// Polls index builds of a collection while there are any.
import { useEffect, useRef, useState } from 'react';
import { type Document, run } from '../../../api/mongo';
import type { Target } from '../../../state/place';
import { type Build, buildsOf } from './builds';

/** Delay between a response and the next request. */
const EVERY_MS = 1000;

const NONE: ReadonlyMap<string, Build> = new Map();

/** `running`: this page waits for a build. `onChange`: another build started, or one ended. */
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
      // Without the privilege to list operations there is no progress; this is not an error.
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
