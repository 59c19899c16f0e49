// One execution of a query in either API: its pages in order, and its statistics.
import type { Explanation } from './explain/explanation';
import type { Results } from './results/form';
import type { Statistic } from './statistics';

export interface ResultPage {
  /** The page as text, with numbers as the server sent them. */
  text: string;
  results: Results;
  roundTripMs: number;
  /** Database time of the request in ms; null: not known. */
  ranAtMs: number | null;
  /** Whether another page follows. */
  more: boolean;
}

export interface Run {
  /** Reads the next page of at most `rows` results. */
  next(signal: AbortSignal, rows?: number): Promise<ResultPage>;
  /** Returns statistics of a page; may send a request. */
  statistics(page: number, signal: AbortSignal): Promise<Statistic[]>;
  /** Returns the explanation; may send a request. */
  explain(signal: AbortSignal): Promise<Explanation>;
  /** Whether explaining does not run the query again. */
  explainsFreely: boolean;
  /** Releases the server's resources. */
  end(): void;
}
