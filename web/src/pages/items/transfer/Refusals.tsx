// Documents that an import refused: a list with lines and reasons, and a download of the rows for
// correction and another import.
import { useMemo, useState } from 'react';
import { words } from '../../../api/http';
import { count } from '../../../pure/figures/amount';
import { refusedRows } from '../../../pure/importing/refusedRows';
import { say } from '../../../state/log';
import { Button } from '../../../ui/Button';
import { chunksOf, MOST_REFUSALS } from './importRun';
import { download } from './sink';
import type { Import } from './useImport';
import type { Refusal } from './writer';

/** Maximum number listed; the downloaded file has all that were kept. */
const LISTED = 100;

function refusalsText(refusals: readonly Refusal[]): string {
  const lines = refusals.map(({ line, why }) => `${line}\t${why.replace(/\s+/g, ' ')}\n`);
  return `line\treason\n${lines.join('')}`;
}

/** Reads the file again, since the import does not keep its content. */
async function downloadRows(
  { file, form }: NonNullable<Import['source']>,
  refusals: readonly Refusal[],
) {
  const parts: string[] = [];
  const nths = refusals.map(({ nth }) => nth);
  for await (const part of refusedRows(chunksOf(file), form, nths)) parts.push(part);
  if (form.kind === 'csv') download(parts, 'refused.csv', 'text/csv');
  else download(parts, 'refused.jsonl', 'application/x-ndjson');
}

export function Refusals({ work }: { work: Import }) {
  const { source, running } = work;
  const { refused, refusals: found } = work.state;
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  // Concurrent requests complete in any order.
  const refusals = useMemo(() => found.toSorted((a, b) => a.nth - b.nth), [found]);
  if (refused === 0) return null;
  const kept = refused > refusals.length ? `; the first ${count(MOST_REFUSALS)} are kept` : '';
  const save = () => {
    if (source === null) return;
    setBusy(true);
    setFailure(null);
    downloadRows(source, refusals)
      .catch((error: unknown) => {
        const why = `The rows could not be read from the file again: ${words(error)}`;
        say({ kind: 'failed', text: why });
        setFailure(why);
      })
      .finally(() => setBusy(false));
  };
  return (
    <section aria-label="Refused">
      <h3>
        {count(refused)} refused{kept}
      </h3>
      <div className="transfer-scroll" role="region" tabIndex={0} aria-label="Refusals">
        <table className="transfer-table">
          <thead>
            <tr>
              <th scope="col">Line</th>
              <th scope="col">Reason</th>
            </tr>
          </thead>
          <tbody>
            {refusals.slice(0, LISTED).map(({ nth, line, why }) => (
              <tr key={nth}>
                <th scope="row">{line}</th>
                <td>{why}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="row">
        <Button disabled={running} busy={busy} onClick={save}>
          Download refused rows
        </Button>
        <Button
          onClick={() =>
            download([refusalsText(refusals)], 'refused.tsv', 'text/tab-separated-values')
          }
        >
          Download the reasons
        </Button>
        {refusals.length > LISTED && <span className="hint">{LISTED} of them are shown.</span>}
      </div>
      {failure !== null && (
        <p className="error" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}
