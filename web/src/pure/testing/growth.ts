// How work grows with its input, for tests: seconds would depend on what else the machine does.

/** Of Node, whose processor time does not depend on that. */
declare const process: { cpuUsage(): { user: number } };

/** The least that some runs took of a processor, microseconds. */
function least(work: () => void): number {
  const once = () => {
    const before = process.cpuUsage().user;
    work();
    return process.cpuUsage().user - before;
  };
  return Math.min(once(), once(), once(), once());
}

/** How many times as much the work takes for an input that is four times as large: 4 if it grows with it, and
 *  16 if it looks at each part once for each other one. */
export function growth(work: (size: number) => void, size: number): number {
  work(size);
  return least(() => work(4 * size)) / least(() => work(size));
}
