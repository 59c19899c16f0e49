// Formats numbers: counts with separators, bytes with units.

const GROUPED = new Intl.NumberFormat('en');

export function count(value: number): string {
  return GROUPED.format(value);
}

const SIZES = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Uses powers of 1024; one decimal below 10. */
export function bytes(value: number): string {
  let [size, at] = [value, 0];
  while (size >= 1024 && at < SIZES.length - 1) {
    size /= 1024;
    at += 1;
  }
  const digits = at === 0 || size >= 10 ? 0 : 1;
  return `${size.toFixed(digits)} ${SIZES[at]}`;
}

/** "1 item", "12,431 items". */
export function counted(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? '' : 's'}`;
}
