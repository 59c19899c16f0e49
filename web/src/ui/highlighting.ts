// Syntax colours from the page's CSS variables, so that they follow light and dark.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { tags } from '@lezer/highlight';

export const highlighting = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--accent)', fontWeight: '600' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
    { tag: [tags.propertyName], color: 'var(--accent)' },
    { tag: [tags.comment], color: 'var(--text-2)', fontStyle: 'italic' },
    { tag: tags.invalid, color: 'var(--bad)' },
  ]),
);
