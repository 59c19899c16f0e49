// Truncates a value to the length of a cell, so that printing a cell takes constant time for a
// document of any size.
import { Binary, BSONRegExp, BSONSymbol, Code, DBRef } from 'bson';

/** Budget of characters, keys and elements. */
const MOST = 400;

class Cutter {
  private left = MOST;

  private text(value: string): string {
    // An uncut string stays the same object.
    const kept = value.length <= this.left ? value : value.slice(0, this.left);
    this.left -= kept.length;
    return kept;
  }

  cut(value: unknown): unknown {
    this.left -= 1;
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const kept: unknown[] = [];
      for (const element of value) {
        if (this.left <= 0) break;
        kept.push(this.cut(element));
      }
      return kept;
    }
    if (value instanceof Binary)
      return value.length() <= MOST
        ? value
        : new Binary(value.buffer.subarray(0, MOST), value.sub_type);
    if (value instanceof BSONSymbol) return new BSONSymbol(this.text(value.value));
    if (value instanceof Code) return new Code(this.text(String(value.code)));
    if (value instanceof BSONRegExp) return value;
    if (value instanceof DBRef || !isPlain(value)) return value;
    const kept: Record<string, unknown> = {};
    for (const key in value) {
      if (this.left <= 0) break;
      const name = this.text(key);
      // An assignment to `__proto__` would set the prototype instead.
      Object.defineProperty(kept, name, {
        value: this.cut((value as Record<string, unknown>)[key]),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return kept;
  }
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Truncates long values. At least 200 characters of the printed value are unchanged. */
export function cut(value: unknown): unknown {
  return new Cutter().cut(value);
}
