// Results of reading an import file: documents and errors, each with its position. Does no I/O.
import type { Document } from 'bson';

export interface Refused {
  kind: 'refused';
  /** In the file, from 1. */
  line: number;
  column: number;
  /** In CSV, the column's name. */
  field?: string;
  why: string;
  /** The refused text, unless it is too long to be kept. */
  text?: string;
}

export type Found<T> = { kind: 'document'; line: number; value: T } | Refused;

/** Reads a file's text in chunks, which must not split a character. */
export interface ImportReader<T> {
  push(text: string): Found<T>[];
  end(): Found<T>[];
}

/** The stored form: an item's JSON with every number as written, or a document's BSON values. */
export type ItemText = string;
export type { Document };

/** Maximum size of one document's text in UTF-16 units. */
export const MOST_UNITS = 32 * 1024 * 1024;

export function refused(line: number, column: number, why: string): Refused {
  return { kind: 'refused', line, column, why };
}

/** Describes the position within a line: the CSV field, else the character. */
export function whereIn({ column, field }: Pick<Refused, 'column' | 'field'>): string {
  return field === undefined ? `character ${column}` : `field ${field}`;
}

/** A position that advances with the text. */
export class Position {
  line = 1;
  column = 1;

  static at(line: number, column: number): Position {
    const position = new Position();
    position.line = line;
    position.column = column;
    return position;
  }

  /** Returns the position after `text`, which starts here. */
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
