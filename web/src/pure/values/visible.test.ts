import { expect, test } from 'vitest';
import { visible } from './visible';

test.each([
  ['plain, ünïcode, עברית', 'plain, ünïcode, עברית'],
  ['two\nlines\r\nand a\ttab', 'two↵lines↵and a⇥tab'],
  // A direction override would show "evil" as "live".
  ['\u202eevil', '•evil'],
  ['a\u200bb\u0000c\ufeff', 'a•b•c•'],
  [' \u2066x\u2069 ', ' •x• '],
  // A family emoji is one glyph, and Persian words contain joiners.
  ['👩\u200d👧', '👩\u200d👧'],
  ['👩🏽\u200d🚒', '👩🏽\u200d🚒'],
  ['می\u200cخواهم', 'می\u200cخواهم'],
  ['a \u200d b', 'a • b'],
])('%j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});
