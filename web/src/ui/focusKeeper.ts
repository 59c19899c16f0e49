// Moves the focus to a new element when the focused one is removed: a button that its own press
// removes, a dialog whose opener was deleted. Browsers would move it to the body, where keys have
// no effect. Does nothing while an element has the focus, or if the user left it with the mouse.

/** Overlays; when one closes, the focus returns to its previous element. */
const ASIDE = 'dialog, .toasts, [role=menu]';
/** Attribute with a selector: the element within that takes the focus lost by a descendant. */
const LANDING = 'data-landing';

const isUsable = (element: Element) =>
  element.isConnected &&
  element.checkVisibility({ visibilityProperty: true }) &&
  !element.matches(':disabled');

/** Whether only the page as a whole has the focus. */
export function isAdrift(): boolean {
  const { activeElement, body } = document;
  return activeElement === null || activeElement === body || activeElement.localName === 'main';
}

/** The last element that received a lost focus. */
let landed: Element | null = null;

/** Whether this module set the current focus, and not the user. */
export function isLanded(): boolean {
  return landed !== null && document.activeElement === landed;
}

function pathOf(element: Element): Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) path.push(at);
  return path;
}

/** Returns the focusable part of an element: for an editor, its text in the shadow root. */
const inner = (element: HTMLElement) =>
  element.shadowRoot?.querySelector<HTMLElement>('[tabindex="0"]') ?? element;

/** Returns the element that takes a descendant's focus; null: try the ancestor. */
function landingOf(element: Element): HTMLElement | null {
  const asked = element.getAttribute(LANDING);
  const within = asked === null ? [] : element.querySelectorAll<HTMLElement>(asked);
  const found = [...within].find(isUsable);
  if (found !== undefined) return found;
  if (element.matches('dialog[open]')) {
    const heading = element.querySelector('h2');
    // Set only when needed: an opening dialog would focus a focusable heading.
    if (heading !== null) heading.tabIndex = -1;
    return heading;
  }
  const tab = asked === null && element.matches('[role=tabpanel]') ? 'aria-labelledby' : null;
  if (tab !== null) return document.getElementById(element.getAttribute(tab) ?? '');
  const takes =
    element instanceof HTMLElement &&
    (element.matches('[tabindex], button, a, input') || inner(element) !== element);
  return takes ? element : null;
}

/** Focuses the first element that accepts it; elements behind a modal dialog do not. */
function land(path: readonly Element[]): boolean {
  return path.filter(isUsable).some((element) => {
    const to = landingOf(element);
    if (to !== null) inner(to).focus({ preventScroll: true });
    if (to === null || document.activeElement !== to) return false;
    landed = to;
    return true;
  });
}

/** Starts keeping the focus. `page`: id of the last resort. Returns a function that stops. */
export function keepFocus(page: string): () => void {
  let [path, before]: [Element[], Element[]] = [[], []];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const taken = ({ target }: FocusEvent) => {
    landed = null;
    if (!(target instanceof Element)) return;
    const wasAside = path[0] !== undefined && path.some((element) => element.matches(ASIDE));
    if (target.closest(ASIDE) === null) before = [];
    else if (!wasAside) before = path;
    path = pathOf(target);
  };
  const look = () => {
    timer = undefined;
    const [last] = path;
    if (document.activeElement !== document.body || last === undefined) return;
    // The element still exists: the user pressed outside it.
    const [within, outside] = isUsable(last) ? [[], []] : [path, before];
    [path, before] = [[], []];
    if (within.length === 0) return;
    const open = within.filter((element) => element.matches('dialog[open]'));
    const home = document.getElementById(page);
    land([...open, ...outside, ...within, ...(home === null ? [] : pathOf(home))]);
  };
  // Wait: the code that removes an element may set the focus itself.
  const soon = () => {
    if (document.activeElement === document.body) timer ??= setTimeout(look);
  };
  const observer = new MutationObserver(soon);
  const left = () => {
    timer ??= setTimeout(look);
  };
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('focusin', taken);
  document.addEventListener('focusout', left);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    document.removeEventListener('focusin', taken);
    document.removeEventListener('focusout', left);
  };
}
