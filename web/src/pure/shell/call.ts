// Parses a call of the MongoDB shell: `db.orders.find({ … }).sort({ … })`. Executes nothing, and
// does not know the methods' meaning.
import { attempt, type Mistake, Wrong } from '../reader';
import { NAME, ShellReader } from './parse';

export interface Argument {
  /** The argument as written. */
  text: string;
  at: number;
  value: unknown;
}

export interface Step {
  name: string;
  at: number;
  args: readonly Argument[];
}

export interface Call {
  /** null: the current database. */
  database: string | null;
  collection: string;
  /** The method calls after the collection, at least one. */
  steps: readonly Step[];
}

const BEGINS = /^(?:\s+|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/)*db\s*[.[]/;

/** Returns whether a text starts like a shell call; values never do. */
export function isCall(text: string): boolean {
  return BEGINS.test(text);
}

class CallReader extends ShellReader {
  call(): Call {
    this.space();
    if (this.match(/db\b/y) === null) throw new Wrong('expected "db" at the start', this.at);
    let database: string | null = null;
    const names: string[] = [];
    for (;;) {
      const step = this.part();
      if (typeof step === 'string') {
        names.push(step);
        continue;
      }
      if (names.length === 0 && step.name === 'getSiblingDB') {
        database = this.named(step);
        continue;
      }
      if (names.length === 0 && step.name === 'getCollection') {
        names.push(this.named(step));
        continue;
      }
      if (names.length === 0) {
        const known = 'getCollection("…") and getSiblingDB("…")';
        throw new Wrong(
          `unknown method "${step.name}" of a database; supported: ${known}`,
          step.at,
        );
      }
      return { database, collection: names.join('.'), steps: [step, ...this.rest()] };
    }
  }

  /** Parses the remaining calls up to the end of the text. */
  private rest(): Step[] {
    const steps: Step[] = [];
    for (;;) {
      this.space();
      if (this.peek() !== '.') break;
      const step = this.part();
      if (typeof step === 'string')
        throw new Wrong(`expected "(" but found ${this.shown()}`, this.at);
      steps.push(step);
    }
    this.end();
    if (this.at < this.text.length)
      throw new Wrong(`unexpected ${this.shown()} after the command`, this.at);
    return steps;
  }

  /** Parses a name or a call. */
  private part(): string | Step {
    this.space();
    if (this.takes('[')) {
      this.space();
      const name = this.quotedName();
      this.space();
      if (!this.takes(']')) throw new Wrong(`expected "]" but found ${this.shown()}`, this.at);
      return name;
    }
    if (!this.takes('.')) throw new Wrong(`expected "." but found ${this.shown()}`, this.at);
    this.space();
    const at = this.at;
    const name = this.match(NAME);
    if (name === null) throw new Wrong(`expected a name but found ${this.shown()}`, at);
    this.space();
    return this.peek() === '(' ? { name, at, args: this.args() } : name;
  }

  private quotedName(): string {
    const next = this.peek();
    if (next !== '"' && next !== "'") throw new Wrong('expected a name in quotes', this.at);
    return this.quoted();
  }

  private args(): Argument[] {
    this.at += 1;
    const found: Argument[] = [];
    for (;;) {
      this.space();
      if (this.peek() === ')') break;
      if (this.at >= this.text.length) throw new Wrong('")" is missing', this.at);
      const at = this.at;
      const value = this.value(1);
      found.push({ value, at, text: this.text.slice(at, this.at) });
      if (!this.comma(')')) break;
    }
    this.at += 1;
    return found;
  }

  private named({ name, at, args }: Step): string {
    const [first] = args;
    if (args.length === 1 && typeof first?.value === 'string' && first.value !== '')
      return first.value;
    throw new Wrong(`${name} expects one name in quotes`, at);
  }
}

export function parseCall(text: string): Call | Mistake {
  return attempt(text, () => new CallReader(text).call());
}
