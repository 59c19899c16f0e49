// Counts the fields of documents by type: of all at once, or incrementally for a growing list.
import { type Kind, kindOf } from '../values/kind';
import { eachField, pathText } from '../values/path';

const LEVELS = 3;

export interface Seen {
  count: number;
  /** Number of documents by type of the value. */
  kinds: Map<Kind, number>;
  /** Its subfields were counted as well. */
  hasParts: boolean;
}

/** Maximum number of fields; documents with data as field names would have no bound. */
const MOST = 1000;
/** A list up to this length is recounted when a document leaves it. */
const SHORT = 500;
/** A longer list is recounted once this fraction has left it. */
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

/** Counts of a changing list: documents that stay in it are not counted again. */
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
