// One execution of a query, whatever the door: its pages, one after the other, and its figures.
import type { Explanation } from './explain/explanation';
import type { Results } from './results/form';
import type { Statistic } from './statistics';

export interface ResultPage {
  /** As text, numbers as the server wrote them. */
  text: string;
  results: Results;
  roundTripMs: number;
  /** The database's time when it was asked, ms; null: not known. */
  ranAtMs: number | null;
  /** Whether another page follows. */
  more: boolean;
}

export interface Run {
  /** Reads the next page, the first one at first, of at most `rows` results. */
  next(signal: AbortSignal, rows?: number): Promise<ResultPage>;
  /** Figures for the page with this number; may ask the server. */
  statistics(page: number, signal: AbortSignal): Promise<Statistic[]>;
  /** What it did and what would help; may ask the server. */
  explain(signal: AbortSignal): Promise<Explanation>;
  /** Explaining runs nothing again. */
  explainsFreely: boolean;
  /** Gives up what the server holds for it. */
  end(): void;
}
