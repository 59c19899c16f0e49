// Copies a text, and says that it did.
import { useEffect, useState } from 'react';
import { Button } from './Button';

export interface CopyButtonProps {
  text: string;
  /** What is copied, for screen readers: "MongoDB connection string". */
  label: string;
  children?: string;
}

/** Pages that came over plain http from another machine have no clipboard; a selection has. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = document.activeElement;
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'visually-hidden';
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}

export function CopyButton({ text, label, children = 'Copy' }: CopyButtonProps) {
  const [said, say] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => say(''), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const press = async () => say((await copy(text)) ? 'Copied' : 'It could not be copied');
  return (
    <Button
      look="quiet"
      className="copy"
      aria-label={`${children} ${label}`}
      onClick={() => void press()}
    >
      <span aria-hidden="true">{said === '' ? children : said}</span>
      <span className="visually-hidden" role="status">
        {said}
      </span>
    </Button>
  );
}
