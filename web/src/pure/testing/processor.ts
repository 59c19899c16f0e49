// What work takes of a processor, for tests: how long it lasts depends on what else the machine does.

/** Of Node. */
declare const process: { cpuUsage(): { user: number } };

/** The least that some runs took of a processor, milliseconds. */
export function processorMs(work: () => void): number {
  const once = () => {
    const before = process.cpuUsage().user;
    work();
    return (process.cpuUsage().user - before) / 1000;
  };
  return Math.min(once(), once(), once());
}
