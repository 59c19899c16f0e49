// Copies the URL of the current page.
import { say, toast } from '../state/log';
import { copyText } from '../ui/clipboard';

export async function copyLink(): Promise<void> {
  if (await copyText(location.href)) toast({ text: 'Copied the link to this page', topic: 'link' });
  else say({ kind: 'failed', text: 'The link could not be copied. Copy it from the address bar.' });
}
