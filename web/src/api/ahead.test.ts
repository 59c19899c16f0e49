import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askAhead, forgetAhead, takeAhead } from './ahead';
import { send } from './http';

let sent: string[] = [];
let answers = true;

beforeEach(() => {
  vi.useFakeTimers();
  [sent, answers] = [[], true];
  vi.stubGlobal('fetch', (path: string) => {
    sent.push(path);
    return answers ? Promise.resolve(Response.json({ path })) : Promise.reject(new TypeError('no'));
  });
});
afterEach(() => {
  forgetAhead();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const read = async (path: string) => (await send({ path, quiet: true })).json();

test('the first who asks gets what was asked ahead, the next asks anew', async () => {
  askAhead('/a');
  await expect(read('/a')).resolves.toEqual({ path: '/a' });
  expect(sent).toEqual(['/a']);
  await read('/a');
  await read('/b');
  expect(sent).toEqual(['/a', '/a', '/b']);
});

test('who asks for more than was asked ahead asks anew, and leaves it to others', async () => {
  askAhead('/a', { version: '1' });
  await send({ path: '/a', headers: { version: '1', usage: 'true' }, quiet: true });
  expect(sent).toEqual(['/a', '/a']);
  await send({ path: '/a', headers: { version: '1' }, quiet: true });
  expect(sent).toEqual(['/a', '/a']);
});

test('a change is never taken from what was asked ahead', async () => {
  askAhead('/a');
  await send({ method: 'PUT', path: '/a', quiet: true });
  expect(sent).toEqual(['/a', '/a']);
});

test('what could not be asked ahead is asked again', async () => {
  answers = false;
  askAhead('/a');
  answers = true;
  await expect(read('/a')).resolves.toEqual({ path: '/a' });
  expect(sent).toEqual(['/a', '/a']);
});

test('what nobody asked for is forgotten in a while', async () => {
  askAhead('/a');
  await vi.advanceTimersByTimeAsync(9_000);
  expect(takeAhead('/a')).not.toBeNull();
  askAhead('/a');
  await vi.advanceTimersByTimeAsync(11_000);
  expect(takeAhead('/a')).toBeNull();
});
