// Measures CPU time in tests: elapsed time depends on other load.

declare const process: { cpuUsage(): { user: number } };

/** Returns the minimum CPU time of several runs, in milliseconds. */
export function processorMs(work: () => void): number {
  const once = () => {
    const before = process.cpuUsage().user;
    work();
    return (process.cpuUsage().user - before) / 1000;
  };
  return Math.min(once(), once(), once());
}
