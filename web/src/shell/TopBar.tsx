// The top bar: name, links, the database clock, access level, theme.
import { Activity, House, LogOut, PanelLeft, Search, SlidersHorizontal } from 'lucide-react';
import { session } from '../api/session';
import { utc } from '../pure/time/utc';
import type { Place } from '../state/place';
import { usePlace } from '../state/router';
import { server, useNow } from '../state/server';
import { useSelected, useStore } from '../state/store';
import { Button } from '../ui/Button';
import { Logo } from '../ui/Logo';
import { PlaceLink } from '../ui/PlaceLink';
import { useMedia } from '../ui/useMedia';
import { signOutAndLeave } from './entry';
import { overlay } from './keys/overlay';
import { isApple, keysOf } from './keys/spelling';
import { TopMenu } from './TopMenu';
import { chooseTheme, THEME_LABELS, THEMES, useTheme } from './theme';
import './top.css';

const LINKS = [
  { page: 'home', label: 'Home', Icon: House },
  { page: 'metrics', label: 'Metrics', Icon: Activity },
  { page: 'features', label: 'Features', Icon: SlidersHorizontal },
] as const;

function Links({ place }: { place: Place }) {
  return (
    <nav aria-label="Account" className="top-links">
      {LINKS.map(({ page, label, Icon }) => (
        <PlaceLink key={page} to={{ page }} aria-current={place.page === page ? 'page' : undefined}>
          <Icon className="icon" />
          {label}
        </PlaceLink>
      ))}
    </nav>
  );
}

function Clock() {
  const now = useNow();
  const mode = useSelected(server, (state) => state.status?.clock.mode);
  if (now === null) return null;
  const text = utc(now);
  return (
    <span className="top-clock">
      <span className="visually-hidden">Database time </span>
      <time title="Database time" dateTime={text.replace(' UTC', 'Z').replace(' ', 'T')}>
        <span className="top-date">{text.slice(0, 11)}</span>
        {text.slice(11)}
      </time>
      {mode === 'manual' && (
        <span className="badge" title="Manual clock: moves only when advanced">
          manual
        </span>
      )}
    </span>
  );
}

function ThemeChoice() {
  const theme = useTheme();
  return (
    <select
      aria-label="Theme"
      value={theme}
      onChange={(event) => {
        const next = THEMES.find((known) => known === event.target.value);
        if (next !== undefined) chooseTheme(next);
      }}
    >
      {THEMES.map((name) => (
        <option key={name} value={name}>
          {THEME_LABELS[name]}
        </option>
      ))}
    </select>
  );
}

/** A button for the palette, besides its key. */
function Finder() {
  return (
    <Button
      className="top-find"
      aria-keyshortcuts={isApple ? 'Meta+K' : 'Control+K'}
      onClick={() => overlay.set({ kind: 'palette' })}
    >
      <Search className="icon" />
      <span className="top-find-word">Find</span>
      <span className="top-find-keys" aria-hidden="true">
        {keysOf('Ctrl+K').join(isApple ? '' : '+')}
      </span>
    </Button>
  );
}

export interface TopBarProps {
  treeOpen: boolean;
  onTree: () => void;
}

/** The width below which the style sheets turn the tree into a drawer. */
const NARROW = '(max-width: 760px)';

export function TopBar({ treeOpen, onTree }: TopBarProps) {
  const known = useStore(session);
  const { place } = usePlace();
  const isNarrow = useMedia(NARROW);
  const canSignOut = known?.login === 'required';
  return (
    <header className="top">
      <Button className="top-tree" aria-expanded={treeOpen} aria-controls="tree" onClick={onTree}>
        <PanelLeft className="icon" />
        <span className="top-tree-word">Tree</span>
      </Button>
      <span className="top-name">
        <Logo />
        <span className="top-word">EbbDB</span>
      </span>
      {!isNarrow && <Links place={place} />}
      <span className="top-space" />
      <Finder />
      <Clock />
      {known?.right === 'read' && (
        <span className="badge" title="Signed in with a read-only key">
          read-only
        </span>
      )}
      {!isNarrow && <ThemeChoice />}
      {!isNarrow && canSignOut && (
        <Button look="quiet" onClick={() => void signOutAndLeave().catch(() => {})}>
          <LogOut className="icon" />
          Sign out
        </Button>
      )}
      {isNarrow && <TopMenu links={LINKS} place={place} canSignOut={canSignOut} />}
    </header>
  );
}
