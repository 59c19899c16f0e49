// Statistics of the fields in a sample: types, frequencies, ranges, most frequent values, array
// lengths. Memory is bounded for a sample of any size.
import { printShell } from '../shell';
import { type Api, compareValues } from '../values/compare';
import { isNumeric, type Kind, kindOf } from '../values/kind';
import { eachField, pathText } from '../values/path';

export interface Counted<T> {
  value: T;
  count: number;
}

export interface FieldFacts {
  path: string;
  /** Number and fraction of documents that have the field. */
  count: number;
  share: number;
  /** Types, most frequent first. */
  kinds: Counted<Kind>[];
  /** Minimum and maximum number or date; null: no such values. */
  numbers: Range | null;
  dates: Range | null;
  /** Most frequent strings, numbers, dates, ids and booleans, as printed. */
  top: Counted<string>[];
  /** Number of distinct values; null: above the counting limit. */
  different: number | null;
  lengths: { least: number; most: number; average: number } | null;
}

export interface Range {
  least: unknown;
  most: unknown;
}

export interface SampleFacts {
  documents: number;
  fields: FieldFacts[];
  /** Whether fields were dropped because of the limit. */
  isCut: boolean;
}

const LEVELS = 3;
const MOST_FIELDS = 500;
const MOST_VALUES = 1000;
const TOP = 10;
const LONGEST = 80;
/** Types whose distinct values are counted, besides numbers. */
const TOLD: ReadonlySet<Kind> = new Set([
  'string',
  'symbol',
  'boolean',
  'null',
  'date',
  'objectId',
]);
const NO_LENGTHS = { least: Number.POSITIVE_INFINITY, most: 0, sum: 0, count: 0 };

/** Statistics of one field, updated per document. */
class Field {
  count = 0;
  private readonly kinds = new Map<Kind, number>();
  private readonly values = new Map<string, number>();
  private areMore = false;
  private numbers: Range | null = null;
  private dates: Range | null = null;
  private lengths: { least: number; most: number; sum: number; count: number } | null = null;

  constructor(private readonly api: Api) {}

  add(value: unknown): void {
    const kind = kindOf(value);
    this.count += 1;
    this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + 1);
    if (isNumeric(kind) && !Number.isNaN(Number(String(value)))) {
      this.numbers = this.widened(this.numbers, value);
    }
    if (kind === 'date') this.dates = this.widened(this.dates, value);
    if (kind === 'array') this.addLength((value as unknown[]).length);
    if (isNumeric(kind) || TOLD.has(kind)) this.tell(value);
  }

  private widened(range: Range | null, value: unknown): Range {
    if (range === null) return { least: value, most: value };
    return {
      least: compareValues(value, range.least, this.api) < 0 ? value : range.least,
      most: compareValues(value, range.most, this.api) > 0 ? value : range.most,
    };
  }

  private addLength(length: number): void {
    const { least, most, sum, count } = this.lengths ?? NO_LENGTHS;
    this.lengths = {
      least: Math.min(least, length),
      most: Math.max(most, length),
      sum: sum + length,
      count: count + 1,
    };
  }

  private tell(value: unknown): void {
    const whole = printShell(value, 0);
    const text = whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
    const known = this.values.get(text);
    if (known === undefined && this.values.size >= MOST_VALUES) this.areMore = true;
    else this.values.set(text, (known ?? 0) + 1);
  }

  facts(path: string, documents: number): FieldFacts {
    const { lengths } = this;
    return {
      path,
      count: this.count,
      share: this.count / documents,
      kinds: mostFirst(this.kinds),
      numbers: this.numbers,
      dates: this.dates,
      top: mostFirst(this.values).slice(0, TOP),
      different: this.areMore ? null : this.values.size,
      lengths:
        lengths === null
          ? null
          : { least: lengths.least, most: lengths.most, average: lengths.sum / lengths.count },
    };
  }
}

function mostFirst<T>(counts: ReadonlyMap<T, number>): Counted<T>[] {
  return [...counts].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
}

/** Returns the statistics of a sample. Fields keep the order of their first occurrence. */
export function sampleFacts(documents: Iterable<unknown>, api: Api): SampleFacts {
  const fields = new Map<string, Field>();
  let total = 0;
  let isCut = false;
  for (const document of documents) {
    total += 1;
    eachField(document, LEVELS, (parts, value) => {
      const path = pathText(parts);
      let field = fields.get(path);
      if (field === undefined) {
        if (fields.size >= MOST_FIELDS) {
          isCut = true;
          return;
        }
        field = new Field(api);
        fields.set(path, field);
      }
      field.add(value);
    });
  }
  const facts = [...fields].map(([path, field]) => field.facts(path, total));
  return { documents: total, fields: facts, isCut };
}
