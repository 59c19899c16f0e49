import { expect, test } from 'vitest';
import type { OfferRecord } from '../../../api/nosql';
import {
  argumentOf,
  provisionedIn,
  readThroughput,
  throughputInWords,
  throughputOf,
  withThroughput,
} from './throughput';

test.each<['manual' | 'autoscale', string, number]>([
  ['manual', '400', 400],
  ['manual', ' 1000000 ', 1_000_000],
  ['autoscale', '1000', 1000],
  ['autoscale', '20000', 20_000],
])('%s %s is read', (mode, text, units) => {
  expect(readThroughput({ mode, text })).toEqual({ value: { mode, units } });
});

test.each<['manual' | 'autoscale', string, RegExp]>([
  ['manual', '', /^Enter a number/],
  ['manual', '-400', /whole number/],
  ['manual', '4e2', /whole number/],
  ['manual', '300', /the minimum is 400/],
  ['manual', '450', /multiple of 100: 400 or 500/],
  ['manual', '1000100', /the maximum is 1,000,000/],
  ['autoscale', '400', /the minimum is 1,000/],
  ['autoscale', '1500', /multiple of 1,000: 1,000 or 2,000/],
])('%s %j is refused', (mode, text, says) => {
  const read = readThroughput({ mode, text });
  expect('error' in read ? read.error : '').toMatch(says);
});

function offer(content: OfferRecord['content']): OfferRecord {
  const names = { id: 'a', _rid: 'a', _self: '', _etag: '', resource: '', offerResourceId: '' };
  return { ...names, offerVersion: 'V2', content };
}

test('an offer is shown and changed, with everything else in it kept', () => {
  const manual = offer({ offerThroughput: 400, ...{ other: true } });
  expect(throughputInWords(manual)).toBe('400 RU/s');
  const scaled = withThroughput(manual, { mode: 'autoscale', units: 4000 });
  expect(scaled.content).toEqual({ other: true, offerAutopilotSettings: { maxThroughput: 4000 } });
  expect(throughputInWords(scaled)).toBe('autoscale up to 4,000 RU/s');
  expect(throughputOf(scaled)).toEqual({ mode: 'autoscale', text: '4000' });
  const back = withThroughput(scaled, { mode: 'manual', units: 500 });
  expect(back.content).toEqual({ other: true, offerThroughput: 500 });
});

test('the throughput of a collection is read and set', () => {
  expect(provisionedIn({})).toBeNull();
  expect(provisionedIn({ provisionedThroughput: 400 })).toEqual({ mode: 'manual', text: '400' });
  const scaled = { provisionedThroughput: 400, autoScaleSettings: { maxThroughput: 4000 } };
  expect(provisionedIn(scaled)).toEqual({ mode: 'autoscale', text: '4000' });
  expect(argumentOf({ mode: 'manual', units: 500 })).toEqual({ offerThroughput: 500 });
  expect(argumentOf({ mode: 'autoscale', units: 4000 })).toEqual({
    autoScaleSettings: { maxThroughput: 4000 },
  });
});
