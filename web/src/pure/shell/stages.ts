// Splits the text of a pipeline into stages, including commented-out ones. Changes nothing, and
// does not know the stages' meaning.
import { attempt, type Mistake, Wrong } from '../reader';
import { ShellReader } from './parse';

export interface Stage {
  /** Range in the text; of a disabled stage, that of the comment. */
  from: number;
  to: number;
  /** Without the surrounding comment. */
  text: string;
  /** Commented out. */
  isOff: boolean;
  /** "$match"; empty if it is not an object with one field. */
  operator: string;
  /** The operator's argument as written. */
  body: string;
  /** Text after the stage within its comment. */
  rest: string;
}

export interface Pipeline {
  text: string;
  stages: readonly Stage[];
  /** After the opening bracket. */
  begin: number;
  /** At the closing bracket. */
  end: number;
}

interface Comment {
  from: number;
  to: number;
}

/** Maximum number of comment lines per stage. */
const MOST_LINES = 100;
const LOOKS_LIKE_A_STAGE = /^\s*\{\s*["']?\$/;

class StagesReader extends ShellReader {
  private readonly stages: Stage[] = [];

  constructor(
    text: string,
    /** Whether comments are searched for stages. */
    private readonly deep: boolean,
  ) {
    super(text);
  }

  pipeline(): Pipeline {
    this.space();
    if (!this.takes('['))
      throw new Wrong('not an array of stages: expected [ { $match: { … } }, … ]', this.at);
    const begin = this.at;
    for (;;) {
      this.between();
      if (this.peek() === ']') break;
      if (this.at >= this.text.length) throw new Wrong('"]" is missing', this.at);
      this.stages.push(this.stage());
      this.between();
      if (this.takes(',')) continue;
      if (this.peek() !== ']')
        throw new Wrong(`expected "," or "]" but found ${this.shown()}`, this.at);
    }
    const end = this.at;
    this.at += 1;
    this.end();
    if (this.at < this.text.length) throw new Wrong(this.trailing(), this.at);
    return { text: this.text, stages: this.stages, begin, end };
  }

  private stage(): Stage {
    const from = this.at;
    const body = this.single(from);
    if (body === null) this.at = from;
    if (body === null) this.value(2);
    const text = this.text.slice(from, this.at);
    return { from, to: this.at, text, isOff: false, operator: '', body: text, rest: '', ...body };
  }

  /** Parses the operator and argument of an object with one field; null for anything else. */
  private single(from: number): { operator: string; body: string } | null {
    this.at = from;
    if (!this.takes('{')) return null;
    this.space();
    if (this.peek() === '}') return null;
    const operator = this.key();
    this.space();
    if (!this.takes(':')) return null;
    this.space();
    const at = this.at;
    this.value(3);
    const body = this.text.slice(at, this.at);
    this.space();
    this.takes(',');
    this.space();
    return this.takes('}') ? { operator, body } : null;
  }

  /** Skips white space and comments; keeps comments that hold a stage. */
  private between(): void {
    const began = this.at;
    this.space();
    if (!this.deep) return;
    this.stages.push(...offStages(this.text, began, this.at));
  }
}

/** Returns the comments in a range without other text, one per line or block. */
function commentsIn(text: string, from: number, to: number): Comment[] {
  const found: Comment[] = [];
  const pattern = /\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  const part = text.slice(from, to);
  for (let next = pattern.exec(part); next !== null; next = pattern.exec(part))
    found.push({ from: from + next.index, to: from + next.index + next[0].length });
  return found;
}

/** Returns the content of a comment, joining consecutive lines. */
function innerOf(text: string, { from, to }: Comment): string {
  const whole = text.slice(from, to);
  if (whole.startsWith('/*')) return whole.slice(2, -2);
  return whole.replace(/^[ \t]*\/\/ ?/gm, '');
}

/** Returns the stage in a comment that holds nothing else; null if it is prose. */
function offStage(text: string, comment: Comment): Stage | null {
  const inner = innerOf(text, comment);
  if (!LOOKS_LIKE_A_STAGE.test(inner)) return null;
  const found = attempt(inner, () => new StagesReader(`[${inner}\n]`, false).pipeline());
  if ('error' in found || found.stages.length !== 1) return null;
  const [stage] = found.stages;
  if (stage === undefined) return null;
  // The parsed text has an extra bracket in front.
  const rest = inner
    .slice(stage.to - 1)
    .replace(/^\s*,/, '')
    .trim();
  return { ...stage, ...comment, rest, isOff: true };
}

/** Returns the stages in consecutive comments: each in one block or in adjacent lines. */
function offStages(text: string, from: number, to: number): Stage[] {
  const comments = commentsIn(text, from, to);
  const isBlock = ({ from: at }: Comment) => text.startsWith('/*', at);
  const found: Stage[] = [];
  for (let at = 0; at < comments.length; at += 1) {
    const first = comments[at] as Comment;
    const most = isBlock(first) ? at + 1 : at + MOST_LINES;
    for (let last = at; last < Math.min(most, comments.length); last += 1) {
      const end = comments[last] as Comment;
      if (last > at && isBlock(end)) break;
      const stage = offStage(text, { from: first.from, to: end.to });
      if (stage === null) continue;
      found.push(stage);
      at = last;
      break;
    }
  }
  return found;
}

export function readPipeline(text: string): Pipeline | Mistake {
  return attempt(text, () => new StagesReader(text, true).pipeline());
}

/** Returns the enabled stages up to `last` as the text of a pipeline. */
export function pipelineText({ stages }: Pipeline, last = stages.length - 1): string {
  const running = stages.slice(0, last + 1).filter(({ isOff }) => !isOff);
  if (running.length === 0) return '[]';
  return `[\n  ${running.map(({ text }) => text).join(',\n  ')}\n]`;
}
