// Loads the sample from any page.
import { words } from '../../api/http';
import { say } from '../../state/log';
import { go } from '../../state/router';

/** Goes to the home page, which shows the sample emptying, and loads it. */
export async function loadSampleAtHome(): Promise<void> {
  go({ page: 'home' });
  try {
    const { loadTheSample } = await import('../../pages/home/sample/loaded');
    await loadTheSample();
  } catch (error) {
    say({ kind: 'failed', text: `The sample data could not be loaded: ${words(error)}` });
  }
}
