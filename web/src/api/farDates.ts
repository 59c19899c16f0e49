// Dates outside JavaScript's range in BSON: the BSON library decodes each as an invalid date and
// encodes it as 1970. These functions correct the decoded document or the encoded bytes.
import type { Document } from 'bson';
import { countFar, dateOf, FarDate } from '../pure/farDate';
import { ARRAY, OBJECT, sizeOfValue, viewOf } from './bsonLayout';

const DATE = 0x09;
type Path = (readonly [from: number, to: number])[];

class Walk {
  readonly view: DataView;
  private readonly path: Path = [];
  private readonly decoder = new TextDecoder();

  constructor(
    private readonly bytes: Uint8Array,
    private readonly onDate: (at: number, walk: Walk) => void,
  ) {
    this.view = viewOf(bytes);
  }

  /** The field names that lead to the current value. */
  names(): string[] {
    return this.path.map(([from, to]) => this.decoder.decode(this.bytes.subarray(from, to)));
  }

  document(begin: number): void {
    const end = begin + this.view.getInt32(begin, true) - 1;
    for (let at = begin + 4; at < end; ) {
      const type = this.bytes[at] ?? 0;
      const zero = this.bytes.indexOf(0, at + 1);
      this.path.push([at + 1, zero]);
      const size = this.value(type, zero + 1);
      this.path.pop();
      at = zero + 1 + size;
    }
  }

  /** Walks a value and returns its length in bytes. */
  private value(type: number, at: number): number {
    if (type === DATE) this.onDate(at, this);
    if (type === OBJECT || type === ARRAY) this.document(at);
    return sizeOfValue(this.bytes, this.view, type, at);
  }
}

/** Returns the value at a path and the object or array that holds it. */
function found(root: unknown, names: readonly string[]): { holder: object; value: unknown } | null {
  let [holder, value]: [object | null, unknown] = [null, root];
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
    holder = value;
    value = (holder as Record<string, unknown>)[name];
  }
  return holder === null ? null : { holder, value };
}

/** Replaces dates in `document`, which was decoded from `bytes`, by far dates where needed. */
export function readFarDates(bytes: Uint8Array, document: Document): void {
  const onDate = (at: number, walk: Walk) => {
    const date = dateOf(walk.view.getBigInt64(at, true));
    if (!(date instanceof FarDate)) return;
    const names = walk.names();
    const place = found(document, names);
    if (place?.value instanceof Date)
      (place.holder as Record<string, unknown>)[names.at(-1) ?? ''] = date;
  };
  new Walk(bytes, onDate).document(0);
}

/** Writes the far dates of `document` into `bytes`, its encoding. */
export function writeFarDates(bytes: Uint8Array, document: Document): void {
  let left = countFar(document);
  if (left === 0) return;
  const onDate = (at: number, walk: Walk) => {
    const value = found(document, walk.names())?.value;
    if (!(value instanceof FarDate)) return;
    walk.view.setBigInt64(at, value.ms, true);
    left -= 1;
  };
  new Walk(bytes, onDate).document(0);
  // Fail rather than write 1970.
  if (left > 0) throw new Error('A date out of range is not allowed here.');
}
