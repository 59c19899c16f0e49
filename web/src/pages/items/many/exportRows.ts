// Saves the selected rows as a file of JSON, every value of its type.
import { words } from '../../../api/http';
import { arrayExporter } from '../../../pure/exporting/exporter';
import { counted } from '../../../pure/figures/amount';
import { say, toast } from '../../../state/log';
import type { Row, Source } from '../source';

/** Items that are read together. */
const TOGETHER = 8;

async function textOf(source: Source, rows: readonly Row[]): Promise<BlobPart[]> {
  const exporter = arrayExporter((text: string) => text);
  const parts: BlobPart[] = [exporter.begin()];
  for (let at = 0; at < rows.length; at += TOGETHER) {
    const some = rows.slice(at, at + TOGETHER);
    for (const text of await Promise.all(some.map((row) => source.json(row))))
      parts.push(exporter.document(text));
  }
  return [...parts, exporter.end()];
}

function save(parts: BlobPart[], name: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export function exportRows(source: Source, rows: readonly Row[]): void {
  textOf(source, rows).then(
    (parts) => {
      save(parts, `${source.noun}s.json`);
      toast({ text: `Exported ${counted(rows.length, source.noun)}` });
    },
    (error: unknown) => say({ kind: 'failed', text: `The export failed: ${words(error)}` }),
  );
}
