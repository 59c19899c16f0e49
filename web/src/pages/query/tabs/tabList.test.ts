import { expect, test } from 'vitest';
import {
  MOST_TABS,
  ONE,
  readTabs,
  renamed,
  type TabList,
  titleOf,
  withoutTab,
  withTab,
} from './tabList';

const ids = ({ tabs }: TabList) => tabs.map(({ id }) => id);

test('tabs are added behind the others and shown, up to a bound', () => {
  let list = withTab(withTab(ONE), 'mine');
  expect(ids(list)).toEqual(['', '2', '3']);
  expect(list.shown).toBe('3');
  expect(list.tabs.map(titleOf)).toEqual(['Query 1', 'Query 2', 'mine']);
  for (let at = 0; at < 30; at += 1) list = withTab(list);
  expect(list.tabs).toHaveLength(MOST_TABS);
});

test('of a tab that is closed the neighbour is shown, and the last one is never gone', () => {
  const three = withTab(withTab(ONE));
  expect(withoutTab(three, '3')).toEqual({ tabs: three.tabs.slice(0, 2), shown: '2' });
  expect(withoutTab({ ...three, shown: '' }, '')).toMatchObject({ shown: '2' });
  expect(withoutTab(three, '2')).toMatchObject({ shown: '3' });
  expect(withoutTab(ONE, '')).toEqual(ONE);
});

test('names', () => {
  expect(renamed(ONE, '', '  mine ').tabs.map(titleOf)).toEqual(['mine']);
  expect(renamed(ONE, '', ' ').tabs.map(titleOf)).toEqual(['Query 1']);
});

test.each([
  [null, ONE],
  ['{', ONE],
  ['{"tabs":[{"id":"../x","name":""}],"shown":"../x"}', ONE],
  ['{"tabs":[{"id":"2","name":"a"}],"shown":"3"}', ONE],
  ['{"tabs":[{"id":"2","name":"a"}],"shown":"2"}', { tabs: [{ id: '2', name: 'a' }], shown: '2' }],
])('%s is read', (text, want) => expect(readTabs(text)).toEqual(want));
