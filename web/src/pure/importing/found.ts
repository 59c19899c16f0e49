// What reading a file for an import finds: documents and refusals, each with its place. Reads nothing.
import type { Document } from 'bson';

export interface Refused {
  kind: 'refused';
  /** From 1, in the file. */
  line: number;
  column: number;
  /** Of CSV, the column's name. */
  field?: string;
  why: string;
  /** What stands there, unless that is too long to be held. */
  text?: string;
}

export type Found<T> = { kind: 'document'; line: number; value: T } | Refused;

/** Takes a file's text part by part. A part may end anywhere but within a character. */
export interface ImportReader<T> {
  push(text: string): Found<T>[];
  end(): Found<T>[];
}

/** What is written: an item's JSON with every number as it was, or a document's BSON values. */
export type ItemText = string;
export type { Document };

/** The most of one document's text that is held, in UTF-16 units. */
export const MOST_UNITS = 32 * 1024 * 1024;

export function refused(line: number, column: number, why: string): Refused {
  return { kind: 'refused', line, column, why };
}

/** Where in its line it is, as a person finds it: the field of CSV, else the character. */
export function whereIn({ column, field }: Pick<Refused, 'column' | 'field'>): string {
  return field === undefined ? `character ${column}` : `field ${field}`;
}

/** A place that goes on with the text that is read. */
export class Position {
  line = 1;
  column = 1;

  static at(line: number, column: number): Position {
    const position = new Position();
    position.line = line;
    position.column = column;
    return position;
  }

  /** The place behind a text that begins here. */
  after(text: string): Position {
    const next = Position.at(this.line, this.column);
    next.advance(text);
    return next;
  }

  advance(text: string): void {
    let last = -1;
    for (let next = text.indexOf('\n'); next >= 0; next = text.indexOf('\n', next + 1)) {
      this.line += 1;
      last = next;
    }
    this.column = last < 0 ? this.column + text.length : text.length - last;
  }
}
