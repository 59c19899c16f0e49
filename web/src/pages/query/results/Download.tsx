// Saves the results that were read as a file, in the form that is chosen.
import { useState } from 'react';
import { counted } from '../../../pure/figures/amount';
import { toast } from '../../../state/log';
import { Button } from '../../../ui/Button';
import { Menu } from '../../../ui/Menu';
import { ENDINGS, FORMATS, type Format, fileOf, type Results } from './form';

export interface DownloadProps {
  /** Gives all results that were read. */
  results: () => Results | null;
  count: number;
  /** Of the file, without its ending. */
  name: string;
}

function save(name: string, parts: string[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser takes what the address names when it is asked, which is not at once.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export function Download({ results, count, name }: DownloadProps) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  const choose = (format: Format) => {
    const all = results();
    if (all === null) return;
    const file = `${name}.${ENDINGS[format]}`;
    save(file, [...fileOf(all, format)]);
    toast({ text: `Downloaded ${counted(count, 'result')} as ${file}.` });
  };
  return (
    <>
      <Button
        look="quiet"
        disabled={count === 0}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        onClick={(event) => {
          const { left, bottom } = event.currentTarget.getBoundingClientRect();
          setAt({ x: left, y: bottom + 4 });
        }}
      >
        Download
      </Button>
      {at !== null && (
        <Menu
          label="Download"
          at={at}
          onClose={() => setAt(null)}
          items={FORMATS.map((format) => ({
            label: `${counted(count, 'result')} as ${format}`,
            onChoose: () => choose(format),
          }))}
        />
      )}
    </>
  );
}
