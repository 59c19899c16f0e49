// The frame of every page: top bar, tree, banners, heading with tabs, and the console.
import { Suspense, useEffect, useRef, useState } from 'react';
import { loadSession } from '../api/session';
import { loadEarly } from '../state/arrival';
import { pathOf } from '../state/place';
import { usePlace } from '../state/router';
import { useServerChanges } from '../state/server';
import { useStore } from '../state/store';
import { isAbsent, tree } from '../state/tree';
import { keepFocus } from '../ui/focusKeeper';
import { part } from '../ui/part';
import { Skeleton } from '../ui/Skeleton';
import { Toasts } from '../ui/Toasts';
import { Banners } from './Banners';
import { Console } from './Console';
import { dialog } from './dialogs';
import { Failed } from './Failed';
import { Heading, PANEL, tabOf } from './Heading';
import { Overlays } from './keys/Overlays';
import { useKeys } from './keys/useKeys';
import { Shown } from './Shown';
import { TopBar } from './TopBar';
import { titleOf } from './title';
import { TreePane } from './tree/TreePane';
import './frame.css';

const Dialogs = part(() => import('./create/Dialogs'));

/** After an outage the server may have been restarted, which invalidates sessions and tokens. */
function useSessionAgain(): void {
  const changes = useServerChanges();
  const first = useRef(changes);
  useEffect(() => {
    if (changes === first.current) return;
    loadSession().catch(() => {
      // The next request reports the failure.
    });
  }, [changes]);
}

/** In a narrow window the tree is a drawer; Escape closes it. */
function useDrawer() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return;
    document.querySelector<HTMLElement>('#tree .tree-filter')?.focus();
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open]') !== null) return;
      setOpen(false);
      document.querySelector<HTMLElement>('.top-tree')?.focus();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [open]);
  return { open, setOpen };
}

export function Frame() {
  const { place } = usePlace();
  const asked = useStore(dialog);
  const drawer = useDrawer();
  useSessionAgain();
  useKeys();
  useEffect(loadEarly, []);
  useEffect(() => keepFocus(PANEL), []);
  useEffect(() => {
    document.title = titleOf(place);
  }, [place]);
  const known = useStore(tree);
  const isTabbed = place.page === 'collection' && !isAbsent(known, place);
  return (
    <div className="frame">
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link within the page. */}
      <a
        className="frame-skip"
        href="#page"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('page')?.focus();
        }}
      >
        Skip to content
      </a>
      <TopBar treeOpen={drawer.open} onTree={() => drawer.setOpen(!drawer.open)} />
      <div className="frame-middle">
        <nav id="tree" className={`frame-tree${drawer.open ? ' open' : ''}`} aria-label="Databases">
          <TreePane onLeave={() => drawer.setOpen(false)} />
        </nav>
        {drawer.open && (
          // biome-ignore lint/a11y/noStaticElementInteractions: keys use the button in the bar.
          <div className="frame-veil" onClick={() => drawer.setOpen(false)} />
        )}
        <main id="page" tabIndex={-1}>
          <Banners />
          <Heading place={place} />
          {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: labelled if a tab panel. */}
          <div
            id={PANEL}
            className="frame-panel"
            data-landing="[role=grid], .items-pane h2"
            role={isTabbed ? 'tabpanel' : undefined}
            aria-labelledby={isTabbed ? tabOf(place.view) : undefined}
          >
            <Failed key={pathOf(place)}>
              <Suspense fallback={<Skeleton lines={8} />}>
                <Shown place={place} />
              </Suspense>
            </Failed>
          </div>
        </main>
      </div>
      <Toasts />
      <Console />
      <Overlays />
      {asked !== null && (
        <Failed>
          <Suspense fallback={null}>
            <Dialogs asked={asked} onClose={() => dialog.set(null)} />
          </Suspense>
        </Failed>
      )}
    </div>
  );
}
