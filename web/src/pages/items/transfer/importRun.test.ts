import { expect, test } from 'vitest';
import { ApiError } from '../../../api/http';
import { type ImportState, MOST_REFUSALS, NOTHING, runImport } from './importRun';
import { type Entry, nothingWritten, refusal, type Writer, type Written } from './writer';

interface One {
  id: string;
}

/** A writer whose requests complete under the test's control. */
function writer(write: (entries: readonly Entry<One>[]) => Promise<Written>): Writer<One> {
  return {
    most: { documents: 2, characters: 1000 },
    finish: (node) => {
      const [entry] = node.kind === 'object' ? node.entries : [];
      return { id: entry?.value.kind === 'plain' ? entry.value.text : '' };
    },
    idOf: ({ id }) => id,
    write,
  };
}

const lines = (ids: readonly string[]) => new Blob(ids.map((id) => `{"id":"${id}"}\n`));

async function imported(ids: readonly string[], write: Writer<One>['write'], stop?: AbortSignal) {
  let state: ImportState = NOTHING;
  const signal = stop ?? new AbortController().signal;
  const done = runImport({
    file: lines(ids),
    form: { kind: 'lines' },
    api: 'nosql',
    writer: writer((entries) => write(entries, signal)),
    signal,
    onState: (next) => {
      state = next;
    },
  });
  const failure = await done.then(
    () => null,
    (error: unknown) => error,
  );
  return { state, failure };
}

const made = (n: number): Written => ({ ...nothingWritten(), made: n });

test('batches hold no more than the bound, and no two of one id are under way at once', async () => {
  const running = new Set<string>();
  let begun = 0;
  let goOn = () => {};
  // The first request completes after another has started.
  const another = new Promise<void>((done) => {
    goOn = done;
  });
  const { state, failure } = await imported(
    ['a', 'b', 'c', 'd', 'a', 'e', 'a'],
    async (entries) => {
      expect(entries.length).toBeLessThanOrEqual(2);
      for (const { value } of entries) {
        expect(running).not.toContain(value.id);
        running.add(value.id);
      }
      begun += 1;
      if (begun > 1) goOn();
      await another;
      for (const { value } of entries) running.delete(value.id);
      return made(entries.length);
    },
  );
  expect(failure).toBeNull();
  expect([state.made, state.refused]).toEqual([7, 0]);
  expect(begun).toBeGreaterThan(3);
});

test('what the server takes none of is halved, until the one at fault is found', async () => {
  const { state } = await imported(['a', 'bad', 'c'], (entries) => {
    const isBad = entries.some(({ value }) => value.id === '"bad"');
    return isBad
      ? Promise.reject(new ApiError('refused', 413, 'TooLarge', 'It is too large.'))
      : Promise.resolve(made(entries.length));
  });
  expect(state.made).toBe(2);
  expect(state.refusals).toEqual([{ nth: 1, line: 2, why: 'It is too large.' }]);
});

test('refusals are counted beyond those that are kept', async () => {
  const ids = Array.from({ length: MOST_REFUSALS + 50 }, (_, at) => `n${at}`);
  const { state } = await imported(ids, (entries) => {
    const refused = entries.map((entry) => refusal(entry, 'x'.repeat(1000)));
    return Promise.resolve({ ...nothingWritten(), refused });
  });
  expect(state.refused).toBe(ids.length);
  expect(state.refusals).toHaveLength(MOST_REFUSALS);
  expect(state.refusals[0]?.why.length).toBeLessThan(310);
});

test('a server that goes away ends it, and what was not answered is told', async () => {
  let sent = 0;
  const { state, failure } = await imported(['a', 'b', 'c', 'd', 'e', 'f'], (entries) => {
    sent += 1;
    return sent === 1
      ? Promise.resolve(made(entries.length))
      : Promise.reject(new ApiError('network', 0, 'Unreachable', 'The server is not responding.'));
  });
  expect(failure).toBeInstanceOf(ApiError);
  expect(state.made).toBe(2);
  expect(state.unknown).toBeGreaterThan(0);
});

test('after a stop nothing more is sent', async () => {
  const stop = new AbortController();
  let sent = 0;
  const { state, failure } = await imported(
    Array.from({ length: 100 }, (_, at) => `n${at}`),
    (entries) => {
      sent += 1;
      stop.abort();
      return Promise.resolve(made(entries.length));
    },
    stop.signal,
  );
  expect(failure).not.toBeNull();
  expect(sent).toBe(1);
  expect([state.made, state.unknown]).toEqual([2, 0]);
});
