// Throughput in an offer, in a reply of `customAction`, and as typed. Pure.
import type { OfferRecord } from '../../../api/nosql';
import { count } from '../../../pure/figures/amount';

export interface ThroughputDraft {
  mode: 'manual' | 'autoscale';
  text: string;
}

export interface Throughput {
  mode: 'manual' | 'autoscale';
  units: number;
}

export const MOST_UNITS = 1_000_000;
export const BOUNDS = {
  manual: { least: 400, step: 100 },
  autoscale: { least: 1000, step: 1000 },
} as const;

/** The throughput that is offered for a collection without one. */
export const DEFAULT_DRAFT: ThroughputDraft = { mode: 'manual', text: '400' };

export function throughputOf(offer: OfferRecord): ThroughputDraft {
  const most = offer.content.offerAutopilotSettings?.maxThroughput;
  if (most !== undefined) return { mode: 'autoscale', text: String(most) };
  return { mode: 'manual', text: String(offer.content.offerThroughput ?? '') };
}

export function readThroughput(draft: ThroughputDraft): { value: Throughput } | { error: string } {
  const { least, step } = BOUNDS[draft.mode];
  const text = draft.text.trim();
  if (text === '') return { error: 'Enter a number of request units.' };
  if (!/^\d{1,9}$/.test(text)) return { error: 'Request units must be a whole number.' };
  const units = Number(text);
  if (units < least)
    return { error: `${count(units)} RU/s is too low: the minimum is ${count(least)}.` };
  if (units > MOST_UNITS) {
    return { error: `${count(units)} RU/s is too high: the maximum is ${count(MOST_UNITS)}.` };
  }
  if (units % step !== 0) {
    const below = units - (units % step);
    const near = `${count(below)} or ${count(below + step)}`;
    return { error: `Request units must be a multiple of ${count(step)}: ${near}, for example.` };
  }
  return { value: { mode: draft.mode, units } };
}

/** Returns the offer with another throughput; the rest is preserved. */
export function withThroughput(offer: OfferRecord, { mode, units }: Throughput): OfferRecord {
  const { offerThroughput: _, offerAutopilotSettings: __, ...others } = offer.content;
  const content =
    mode === 'manual'
      ? { ...others, offerThroughput: units }
      : { ...others, offerAutopilotSettings: { maxThroughput: units } };
  return { ...offer, content };
}

/** Returns the throughput in a reply of `GetCollection` or `GetDatabase`; null: it has none. */
export function provisionedIn(reply: {
  provisionedThroughput?: unknown;
  autoScaleSettings?: { maxThroughput?: unknown };
}): ThroughputDraft | null {
  const most = reply.autoScaleSettings?.maxThroughput;
  if (most !== undefined) return { mode: 'autoscale', text: String(most) };
  const units = reply.provisionedThroughput;
  return units === undefined ? null : { mode: 'manual', text: String(units) };
}

/** Returns the argument of `UpdateCollection` that sets a throughput. */
export function argumentOf({ mode, units }: Throughput): object {
  return mode === 'manual'
    ? { offerThroughput: units }
    : { autoScaleSettings: { maxThroughput: units } };
}

export function throughputInWords(offer: OfferRecord): string {
  const { mode, text } = throughputOf(offer);
  const units = text === '' ? '?' : count(Number(text));
  return mode === 'manual' ? `${units} RU/s` : `autoscale up to ${units} RU/s`;
}
