// What the palette does that no page does by itself.
import { words } from '../../api/http';
import { say, toast } from '../../state/log';
import { go } from '../../state/router';
import { copyText } from '../../ui/clipboard';

/** Puts the address of what is shown into the clipboard. */
export async function copyLink(): Promise<void> {
  if (await copyText(location.href)) toast({ text: 'Copied the link to this page' });
  else say({ kind: 'failed', text: 'The link could not be copied. It stands in the address bar.' });
}

/** Shows the front page, where one sees the sample empty, and loads it. */
export async function loadSampleAtHome(): Promise<void> {
  go({ page: 'home' });
  try {
    const { loadTheSample } = await import('../../pages/home/sample/loaded');
    await loadTheSample();
  } catch (error) {
    say({ kind: 'failed', text: `The sample could not be loaded: ${words(error)}` });
  }
}
