// Formats latencies.

/** Formats seconds as a latency: "1.24 ms", "830 µs", "2.1 s". */
export function latency(seconds: number | null): string {
  if (seconds === null) return '–';
  const [value, unit] =
    seconds >= 1
      ? [seconds, 's']
      : seconds >= 0.001
        ? [seconds * 1e3, 'ms']
        : [seconds * 1e6, 'µs'];
  return `${Number(value.toPrecision(3))} ${unit}`;
}
