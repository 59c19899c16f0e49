// Entry point of the portal.
import { createRoot } from 'react-dom/client';
import { closeAll } from './api/mongo';
import { bytes } from './pure/figures/amount';
import { App } from './shell/App';
import { askForFirstPage } from './shell/ahead';
import { showTheme } from './shell/theme';
import { say } from './state/log';
import { MOST_AT_ONCE, refuseLongInput } from './ui/longInput';
import './styles/tokens.css';
import './styles/base.css';

showTheme();
askForFirstPage();
refuseLongInput((characters) => {
  const most = `This field accepts at most ${bytes(MOST_AT_ONCE)} per paste`;
  say({
    kind: 'failed',
    text: `The pasted text is ${bytes(characters)}. ${most}, so it was not inserted.`,
  });
});
window.addEventListener('pagehide', () => void closeAll());
const root = document.getElementById('app');
if (root !== null) createRoot(root).render(<App />);
