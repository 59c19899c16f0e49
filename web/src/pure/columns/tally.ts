// Counts the fields of documents by their types: of all of them once, or of a list that grows, of which
// each document is looked at only when it is new.
import { type Kind, kindOf } from '../values/kind';
import { eachField, pathText } from '../values/path';

const LEVELS = 3;

export interface Seen {
  /** Documents that have the field. */
  count: number;
  /** The same by the type of what they have there. */
  kinds: Map<Kind, number>;
  /** Fields below it were counted too. */
  hasParts: boolean;
}

/** More fields than a person can choose from; documents with names made of data would have no end. */
const MOST = 1000;
/** A list up to this long is counted anew when anything has left it. */
const SHORT = 500;
/** Of a longer one this part may have left it before it is. */
const LEFT = 0.1;

export class Tally {
  readonly seen = new Map<string, Seen>();
  total = 0;

  add(document: unknown): void {
    this.total += 1;
    eachField(document, LEVELS, (parts, value) => {
      const id = pathText(parts);
      let known = this.seen.get(id);
      if (known === undefined) {
        if (this.seen.size >= MOST) return;
        known = { count: 0, kinds: new Map(), hasParts: false };
        this.seen.set(id, known);
        const above = this.seen.get(pathText(parts.slice(0, -1)));
        if (parts.length > 1 && above !== undefined) above.hasParts = true;
      }
      const kind = kindOf(value);
      known.count += 1;
      known.kinds.set(kind, (known.kinds.get(kind) ?? 0) + 1);
    });
  }
}

/** The tally of a list that changes: those that stay in it are not looked at again. */
export class ListTally {
  private tally = new Tally();
  private known = new WeakSet<object>();

  of(documents: readonly object[]): Tally {
    const fresh = documents.filter((document) => !this.known.has(document));
    const left = this.tally.total - (documents.length - fresh.length);
    const isAnew = left > (documents.length <= SHORT ? 0 : this.tally.total * LEFT);
    if (isAnew) {
      this.tally = new Tally();
      this.known = new WeakSet();
    }
    for (const document of isAnew ? documents : fresh) {
      this.known.add(document);
      this.tally.add(document);
    }
    return this.tally;
  }
}
