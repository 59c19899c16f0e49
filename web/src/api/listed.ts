// Documents of a list, kept as bytes. A small one is decoded at once. Of a large one only the start
// of each field is decoded, which is all that a list shows: decoding a document of 16 MB blocks the
// page noticeably, and a list has a hundred. It is decoded whole on first access of `value`.
import { type Document, deserialize } from 'bson';
import { ARRAY, BINARY, OBJECT, STRING, sizeOfValue, viewOf } from './bsonLayout';
import { unwrapped } from './cutting';
import { readFarDates } from './farDates';
import { KEEP_TYPES } from './mongo';

/** Size in bytes above which a document is large. */
const LARGE = 64 * 1024;
/** Bytes decoded per field of a large document. */
const OF_A_FIELD = 600;
/** Number of fields decoded of a large document. */
const FIELDS = 300;
/** Fields that are decoded wherever they are in the document. */
const ALWAYS: ReadonlySet<string> = new Set(['_id', 'ttl']);

export interface Listed {
  /** The whole document; decoded on first access. */
  readonly value: Document;
  /** The start of each field of a large document; null for a small one. */
  readonly brief: Document | null;
  /** Whether the server has cut it: `value` has only the start of each field. */
  readonly isCut?: boolean;
}

const decoder = new TextDecoder();

function decoded(bytes: Uint8Array): Document {
  const document = deserialize(bytes, KEEP_TYPES);
  readFarDates(bytes, document);
  return document;
}

/** Decodes one element by copying it into a document of its own. */
function element(bytes: Uint8Array, begin: number, end: number): unknown {
  const alone = new Uint8Array(end - begin + 5);
  viewOf(alone).setInt32(0, alone.length, true);
  alone.set(bytes.subarray(begin, end), 4);
  return Object.values(decoded(alone))[0];
}

class Beginning {
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = viewOf(bytes);
  }

  /** Calls `visit` with each element of the document at `begin` until `visit` returns false. */
  private each(
    begin: number,
    visit: (name: string, type: number, from: number, at: number, end: number) => boolean,
  ): void {
    const last = begin + this.view.getInt32(begin, true) - 1;
    for (let from = begin + 4; from < last; ) {
      const type = this.bytes[from] ?? 0;
      const zero = this.bytes.indexOf(0, from + 1);
      const end = zero + 1 + sizeOfValue(this.bytes, this.view, type, zero + 1);
      const name = decoder.decode(this.bytes.subarray(from + 1, zero));
      if (!visit(name, type, from, zero + 1, end)) return;
      from = end;
    }
  }

  /** Decodes the first `left` bytes of a value; always keeps its type. */
  private begun(type: number, from: number, at: number, end: number, left: number): unknown {
    if (end - at <= left) return element(this.bytes, from, end);
    if (type === STRING) return decoder.decode(this.bytes.subarray(at + 4, at + 4 + left));
    if (type === BINARY) return `binary data of ${this.view.getInt32(at, true)} bytes`;
    if (type !== OBJECT && type !== ARRAY) return 'a long value';
    const entries: [string, unknown][] = [];
    let rest = left;
    this.each(at, (name, type, from, at, end) => {
      entries.push([name, this.begun(type, from, at, end, rest)]);
      rest -= Math.min(end - from, rest);
      return rest > 0;
    });
    return type === ARRAY ? entries.map(([, value]) => value) : named(entries);
  }

  document(): Document {
    const entries: [string, unknown][] = [];
    this.each(0, (name, type, from, at, end) => {
      if (entries.length < FIELDS || ALWAYS.has(name)) {
        const left = ALWAYS.has(name) ? Number.POSITIVE_INFINITY : OF_A_FIELD;
        entries.push([name, this.begun(type, from, at, end, left)]);
      }
      return true;
    });
    return named(entries);
  }
}

/** Builds an object in which `__proto__` is an ordinary key. */
function named(entries: readonly [string, unknown][]): Document {
  return Object.fromEntries(entries);
}

/** Decodes a document that the stage `CUTTING` has wrapped. */
export function listedCut(wrapped: Uint8Array): Listed {
  const { bytes, isCut } = unwrapped(wrapped);
  return { value: decoded(bytes), brief: null, isCut };
}

/** Decodes a document of a list. */
export function listed(bytes: Uint8Array): Listed {
  if (bytes.length <= LARGE) return { value: decoded(bytes), brief: null };
  let whole: Document | undefined;
  return {
    brief: new Beginning(bytes).document(),
    get value() {
      whole ??= decoded(bytes);
      return whole;
    },
  };
}
