// Loads the sample from anywhere.
import { words } from '../../api/http';
import { say } from '../../state/log';
import { go } from '../../state/router';

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
