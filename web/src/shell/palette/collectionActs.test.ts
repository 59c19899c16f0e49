import { expect, test, vi } from 'vitest';
import type { Place } from '../../state/place';
import { backupCommand } from './backupCommand';
import { actsOfOthers, collectionActs } from './collectionActs';

// The router reads the address when it is loaded.
vi.hoisted(() => {
  vi.stubGlobal('location', { pathname: '/', search: '', host: 'db:8080' });
  vi.stubGlobal('window', { addEventListener: () => {} });
});

const branches = [
  { door: 'mongo' as const, name: 'app', collections: ['log', 'carts'], failure: null },
  { door: 'nosql' as const, name: 'app', collections: ['log'], failure: null },
  { door: 'nosql' as const, name: 'closed', collections: null, failure: null },
];
const tree = { branches, loading: false, read: true, failures: [] };
const shown: Place = {
  ...{ page: 'collection', view: 'query', door: 'mongo', database: 'app', collection: 'log' },
} as const;

test.each(['import', 'export', 'index', 'drop', 'ttl', 'rename'])(
  '%s is among what can be done with a collection',
  (word) => {
    const target = { door: 'mongo', database: 'app', collection: 'log' } as const;
    const found = collectionActs(target, shown).filter(({ label, also }) =>
      `${label} ${also}`.toLowerCase().includes(word),
    );
    expect(found).not.toEqual([]);
  },
);

test('the others are called by their names, and not the one that is shown', () => {
  const hints = new Set(actsOfOthers(tree, shown).map(({ hint }) => hint));
  expect([...hints]).toEqual(['app › carts · MongoDB', 'app › log · NoSQL']);
});

test('of very many collections none but the one that is shown are offered', () => {
  const many = Array.from({ length: 501 }, (_, at) => `c${at}`);
  const large = { ...tree, branches: [{ ...branches[0], collections: many }] } as typeof tree;
  expect(actsOfOthers(large, { page: 'home' })).toEqual([]);
});

test('the command for a backup names this server', () => {
  expect(backupCommand('db:8080', false)).toBe('ebb backup --admin-addr db:8080 DIRECTORY');
  expect(backupCommand('db:8080', true)).toContain('--key-file');
});
