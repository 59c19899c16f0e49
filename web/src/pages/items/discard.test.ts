import { afterEach, expect, test } from 'vitest';
import { readDraft, writeDraft } from '../../state/draft';
import { clearLog, log } from '../../state/log';
import { undoDiscard } from './discard';
import { baseOf } from './drafts';

const LOST = { name: 'item one', text: '{ "a": 2 }', base: '{ "a": 1 }' };

afterEach(() => {
  writeDraft(LOST.name, null);
  writeDraft(baseOf(LOST.name), null);
  clearLog();
});

test('the text comes back into the pane that shows the item', () => {
  let isShown = false;
  undoDiscard(LOST, () => {
    isShown = true;
    return true;
  }).onChoose();
  expect(isShown).toBe(true);
});

test('where the item is not open, its draft and the text below it are kept', () => {
  undoDiscard(LOST, () => false).onChoose();
  expect(readDraft(LOST.name)).toBe(LOST.text);
  expect(readDraft(baseOf(LOST.name))).toBe(LOST.base);
});

test('what was typed since is not replaced', () => {
  writeDraft(LOST.name, 'newer');
  undoDiscard(LOST, () => true).onChoose();
  expect(readDraft(LOST.name)).toBe('newer');
  expect(log.get().at(-1)?.text).toContain('edited since');
});
