// Edits a pipeline's text by stages. All other text is preserved: comments, formatting, and the
// text of each stage; only commas are adjusted.
import type { Mistake } from '../reader';
import { type Pipeline, readPipeline } from './stages';

/** The text of a stage. */
interface Piece {
  text: string;
  isOff: boolean;
}

/** The text between the brackets: stages, and the gaps before, between and after them. */
interface Parts {
  pieces: Piece[];
  gaps: string[];
}

function partsOf({ text, stages, begin, end }: Pipeline): Parts {
  const pieces = stages.map(({ from, to, isOff }) => ({ text: text.slice(from, to), isOff }));
  const starts = [begin, ...stages.map(({ to }) => to)];
  const ends = [...stages.map(({ from }) => from), end];
  return { pieces, gaps: starts.map((from, at) => text.slice(from, ends[at])) };
}

const TOKENS = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|,/g;

function commasIn(gap: string): number {
  return (gap.match(TOKENS) ?? []).filter((token) => token === ',').length;
}

const withoutCommas = (gap: string) => gap.replace(TOKENS, (token) => (token === ',' ? '' : token));

/** Places one comma between enabled stages, none before the first, at most one after the last. */
function settleCommas({ pieces, gaps }: Parts): void {
  const running = pieces.flatMap(({ isOff }, at) => (isOff ? [] : [at]));
  const strip = (from: number, to: number) => {
    for (let at = from; at <= to; at += 1) gaps[at] = withoutCommas(gaps[at] ?? '');
  };
  const count = (from: number, to: number) =>
    gaps.slice(from, to + 1).reduce((all, gap) => all + commasIn(gap), 0);
  strip(0, running[0] ?? gaps.length - 1);
  running.forEach((piece, order) => {
    const next = running[order + 1];
    const [from, to] = [piece + 1, next ?? gaps.length - 1];
    const found = count(from, to);
    if (next === undefined ? found <= 1 : found === 1) return;
    strip(from, to);
    if (next !== undefined) gaps[from] = `,${gaps[from]}`;
  });
}

/** Returns the text with new stages between its brackets. */
function written({ text, begin, end }: Pipeline, parts: Parts): string {
  settleCommas(parts);
  const { pieces, gaps } = parts;
  const inner = pieces.map((piece, at) => {
    const gap = gaps[at + 1] ?? '';
    // Text after a line comment must move to the next line.
    const isOpen = piece.isOff && /\/\/[^\n]*$/.test(piece.text) && !piece.text.endsWith('*/');
    return `${piece.text}${isOpen && !/^[ \t]*\r?\n/.test(gap) ? '\n' : ''}${gap}`;
  });
  return `${text.slice(0, begin)}${gaps[0] ?? ''}${inner.join('')}${text.slice(end)}`;
}

function edited(text: string, change: (parts: Parts, of: Pipeline) => void): string | Mistake {
  const read = readPipeline(text);
  if ('error' in read) return read;
  const parts = partsOf(read);
  change(parts, read);
  return written(read, parts);
}

function commented(text: string): string {
  if (!text.includes('*/')) return `/* ${text} */`;
  return text.replace(/^/gm, '// ');
}

/** Disables a stage by commenting it out, or enables it again. */
export function switched(text: string, at: number, isOff: boolean): string | Mistake {
  return edited(text, ({ pieces, gaps }, { stages }) => {
    const stage = stages[at];
    if (stage === undefined || stage.isOff === isOff) return;
    pieces[at] = { isOff, text: isOff ? commented(stage.text) : stage.text };
    if (stage.rest === '') return;
    const gap = gaps[at + 1] ?? '';
    gaps[at + 1] = ` ${stage.rest}${/^[ \t]*\r?\n/.test(gap) ? '' : '\n'}${gap}`;
  });
}

/** Swaps a stage with its neighbour. */
export function moved(text: string, at: number, by: -1 | 1): string | Mistake {
  return edited(text, ({ pieces }) => {
    const [one, other] = [pieces[at], pieces[at + by]];
    if (one === undefined || other === undefined) return;
    pieces[at] = other;
    pieces[at + by] = one;
  });
}

/** Returns the indentation of a line if only white space precedes the position. */
function indentAt(text: string, at: number): string {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*$/.test(before) ? before : '  ';
}

/** Appends a stage; an empty text becomes a pipeline. */
export function added(text: string, stage: string): string | Mistake {
  if (text.trim() === '') return `[\n  ${stage}\n]`;
  return edited(text, ({ pieces, gaps }, { text: whole, stages, begin, end }) => {
    const last = stages.at(-1);
    const tail = gaps.pop() ?? '';
    const isOnOneLine = last !== undefined && !whole.slice(begin, end).includes('\n');
    const kept = tail.trimEnd();
    const indent = last === undefined ? '  ' : indentAt(whole, last.from);
    const space = isOnOneLine ? ' ' : `\n${indent}`;
    const rest = tail.slice(kept.length);
    const closing = isOnOneLine || rest.includes('\n') ? rest : '\n';
    pieces.push({ text: stage.replaceAll('\n', `\n${isOnOneLine ? '' : indent}`), isOff: false });
    gaps.push(kept + space, closing);
  });
}
