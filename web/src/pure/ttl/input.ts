// Parses a typed number of seconds without changing it silently: a value, or a message why it is
// invalid. Uses no page and no server.
import { count } from '../figures/amount';
import { inWords, UNITS, type UnitName } from '../time/duration';

/** Maximum of both APIs. */
export const MOST_SECONDS = 2_147_483_647;

/** `null`: TTL is off; -1: on without a default; n: n seconds. */
export type Default = number | null;
export type TtlOption = 'off' | 'on-nodefault' | 'on';

/** The options in display order, with their labels. */
export const TTL_OPTIONS: readonly { option: TtlOption; label: string }[] = [
  { option: 'off', label: 'Off' },
  { option: 'on-nodefault', label: 'On (no default)' },
  { option: 'on', label: 'On' },
];

export interface SecondsTyped {
  text: string;
  /** The selected unit; a unit typed after the number overrides it. */
  unit: UnitName;
}

/** For an empty input. */
export const NO_SECONDS: SecondsTyped = { text: '', unit: 'second' };

/** State of the three options and the input. */
export interface TtlDraft extends SecondsTyped {
  option: TtlOption;
}

export type Read<T> = { value: T } | { error: string };

function secondsOf(unit: UnitName): number {
  return UNITS.find((known) => known.name === unit)?.seconds ?? 1;
}

function brief(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function noNumber(text: string): string {
  if (/^[+-]?\d+(\.\d+)?e[+-]?\d+$/i.test(text)) {
    return `Write ${brief(text)} in digits: exponents are not supported.`;
  }
  if (/^[+-]?(\d+\.\d*|\.\d+)$/.test(text)) {
    return `${brief(text)} is not a whole number: a decimal point is not allowed.`;
  }
  if (/^\d{1,3}([,' _]\d{3})+$/.test(text)) {
    return `Remove the digit separators: ${brief(text.replace(/\D/g, ''))}.`;
  }
  if (/^\+\d+$/.test(text)) return `Remove the plus sign: ${brief(text.slice(1))}.`;
  return `“${brief(text)}” is not a number: use the digits 0 to 9 only.`;
}

/** Label of the option that replaces -1 as a default. */
const MINUS_ONE = 'On (no default)';

function negative(text: string, least: number, minusOne: string): string {
  if (least === 1 && /^-0*1$/.test(text)) {
    return `-1 means ${minusOne}: choose that option instead.`;
  }
  return /^-0+$/.test(text)
    ? `${brief(text)} is not a duration: the minimum is ${least}.`
    : `${brief(text)} is negative: the minimum is ${least}.`;
}

const SHORT: Readonly<Record<string, UnitName>> = {
  s: 'second',
  sec: 'second',
  m: 'minute',
  min: 'minute',
  h: 'hour',
  hr: 'hour',
  d: 'day',
  w: 'week',
};

/** Splits "90d" or "90 days" into number and unit; null: no unit typed. */
function withUnit(text: string): { text: string; unit: UnitName } | null {
  const parts = /^([+-]?[\d.]+)\s*([a-z]+)$/i.exec(text);
  const name = parts?.[2]?.toLowerCase() ?? '';
  const unit =
    SHORT[name] ?? UNITS.find((one) => `${one.name}s` === name || one.name === name)?.name;
  return unit === undefined ? null : { text: parts?.[1] ?? '', unit };
}

/** Returns the effective unit: the typed one, or the selected one. */
export function unitMeant({ text, unit }: SecondsTyped): UnitName {
  return withUnit(text.trim())?.unit ?? unit;
}

/**
 * Parses a number of units into seconds, at least `least`. A typed unit overrides `chosen`.
 * `minusOne`: the option to suggest instead of -1.
 */
export function readSeconds(
  typed: string,
  chosen: UnitName = 'second',
  least: 0 | 1 = 1,
  minusOne: string = MINUS_ONE,
): Read<number> {
  const { text, unit } = withUnit(typed.trim()) ?? { text: typed.trim(), unit: chosen };
  const size = secondsOf(unit);
  if (text === '') {
    return { error: `Enter a number of ${unit}s, or one with its unit: 90d, 36h, 15m, 45s.` };
  }
  if (/^-\d+$/.test(text)) return { error: negative(text, least, minusOne) };
  if (!/^\d+$/.test(text)) return { error: noNumber(text) };
  const whole = BigInt(text) * BigInt(size);
  if (whole > BigInt(MOST_SECONDS)) {
    const most = count(Math.floor(MOST_SECONDS / size));
    const long = text.length > 20 ? 'That' : text;
    const reason = `the maximum is ${most} ${unit}s (${inWords(MOST_SECONDS)})`;
    return { error: `${long}${long === 'That' ? ' is' : ` ${unit}s are`} too many: ${reason}.` };
  }
  const value = Number(whole);
  if (value < least) {
    return { error: `0 would expire everything immediately: the minimum is ${least}.` };
  }
  return { value };
}

/** Returns the draft that represents a default. */
export function draftOf(value: Default): TtlDraft {
  if (value === null) return { option: 'off', ...NO_SECONDS };
  if (value === -1) return { option: 'on-nodefault', ...NO_SECONDS };
  return { option: 'on', text: String(value), unit: 'second' };
}

/** Returns the default that a draft represents, or an error. */
export function readDraft(draft: TtlDraft): Read<Default> {
  if (draft.option === 'off') return { value: null };
  if (draft.option === 'on-nodefault') return { value: -1 };
  return readSeconds(draft.text, draft.unit);
}

/**
 * Changes the unit of an input. A typed number stays and changes its meaning; an untouched value is
 * converted if it is integral in the new unit.
 */
export function inUnit(typed: SecondsTyped, unit: UnitName, shown: Default): SecondsTyped {
  const read = readSeconds(typed.text, typed.unit, 0);
  const size = secondsOf(unit);
  const untouched = 'value' in read && read.value === shown && read.value % size === 0;
  if (untouched) return { unit, text: String(read.value / size) };
  return { unit, text: withUnit(typed.text.trim())?.text ?? typed.text };
}

/** Formats a default: "Off", "On (no default)", "7776000 s = 90 days". */
export function defaultInWords(value: Default): string {
  if (value === null) return 'Off';
  return value === -1 ? 'On (no default)' : `${value} s = ${inWords(value)}`;
}
