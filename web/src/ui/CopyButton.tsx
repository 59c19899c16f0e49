// A button that copies a text and confirms it.
import { useEffect, useState } from 'react';
import { Button } from './Button';
import { copyText } from './clipboard';

export interface CopyButtonProps {
  text: string;
  /** Name of the text for screen readers: "MongoDB connection string". */
  label: string;
  children?: string;
}

export function CopyButton({ text, label, children = 'Copy' }: CopyButtonProps) {
  const [said, say] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => say(''), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const press = async () => say((await copyText(text)) ? 'Copied' : 'Could not be copied');
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
