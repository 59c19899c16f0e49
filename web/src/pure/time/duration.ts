// Formats and parses durations in seconds. Uses no clock.

export const UNITS = [
  { name: 'second', seconds: 1 },
  { name: 'minute', seconds: 60 },
  { name: 'hour', seconds: 3600 },
  { name: 'day', seconds: 86_400 },
  { name: 'week', seconds: 604_800 },
] as const;

export type UnitName = (typeof UNITS)[number]['name'];

const YEAR = 31_536_000;
const PARTS = [
  { name: 'year', seconds: YEAR },
  { name: 'day', seconds: 86_400 },
  { name: 'hour', seconds: 3600 },
  { name: 'minute', seconds: 60 },
  { name: 'second', seconds: 1 },
] as const;

function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** `7776000` → "90 days", `5400` → "1 hour 30 minutes"; the two largest parts, exact or "about". */
export function inWords(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  // Durations up to two years are shown in days.
  const parts = rest < 2 * YEAR ? PARTS.slice(1) : PARTS;
  const said: string[] = [];
  for (const { name, seconds: size } of parts) {
    const count = Math.floor(rest / size);
    if (count > 0 && said.length < 2) {
      said.push(counted(count, name));
      rest -= count * size;
    } else if (said.length > 0) {
      break;
    }
  }
  if (said.length === 0) return '0 seconds';
  return (rest > 0 ? 'about ' : '') + said.join(' ');
}

/** "7776000 s = 90 days". */
export function spelled(seconds: number): string {
  return `${seconds} s = ${inWords(seconds)}`;
}

/** Returns the largest unit of which the duration is a multiple. */
export function unitOf(seconds: number): UnitName {
  const fitting = UNITS.filter((unit) => seconds >= unit.seconds && seconds % unit.seconds === 0);
  return fitting.at(-1)?.name ?? 'second';
}

/** Formats a countdown: "2 d 03:04:05", "03:04:05", "04:05". Rounds up to full seconds. */
export function countdown(ms: number): string {
  const all = Math.max(0, Math.ceil(ms / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [days, hours] = [Math.floor(all / 86_400), Math.floor((all % 86_400) / 3600)];
  const [minutes, seconds] = [Math.floor((all % 3600) / 60), all % 60];
  const clock = `${two(minutes)}:${two(seconds)}`;
  if (days > 0) return `${days} d ${two(hours)}:${clock}`;
  return hours > 0 ? `${two(hours)}:${clock}` : clock;
}
