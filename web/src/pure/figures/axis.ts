// Round numbers for the axes of charts.

/** Returns a round maximum of at least `most`, and the integral step between grid lines. */
export function scale(most: number, lines = 4): { top: number; step: number } {
  const least = Math.max(1, most / lines);
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10;
  const step = factor * power;
  return { top: Math.max(step, Math.ceil(most / step) * step), step };
}

const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** "950", "12K", "3.4M". */
export function short(value: number): string {
  return SHORT.format(value);
}
