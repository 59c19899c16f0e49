// Where the page begins.
import { createRoot } from 'react-dom/client';
import { App } from './shell/App';
import { showTheme } from './shell/theme';
import './styles/tokens.css';
import './styles/base.css';

showTheme();
const root = document.getElementById('app');
if (root !== null) createRoot(root).render(<App />);
