// Gives the focus a new place when what had it is taken away: a button that vanishes by its own press, a
// dialog whose opener is gone. Browsers would drop it to the body, where no key does anything. Moves
// nothing as long as something has the focus, nor when a person has left it with the mouse.

/** What is opened over the page, or stands beside it: afterwards the focus goes to where it was. */
const ASIDE = 'dialog, .toasts, [role=menu]';
/** On an element: a selector of what takes the focus for anything within that has lost it. */
const LANDING = 'data-landing';

const isUsable = (element: Element) =>
  element.isConnected &&
  element.checkVisibility({ visibilityProperty: true }) &&
  !element.matches(':disabled');

/** Whether nothing has the focus but the page as a whole. */
export function isAdrift(): boolean {
  const { activeElement, body } = document;
  return activeElement === null || activeElement === body || activeElement.localName === 'main';
}

/** What took the focus last for something that was gone. */
let landed: Element | null = null;

/** Whether what has the focus was given it here, and not by a person, who may have meant something else. */
export function isLanded(): boolean {
  return landed !== null && document.activeElement === landed;
}

/** An element and what it stands in. */
function pathOf(element: Element): Element[] {
  const path: Element[] = [];
  for (let at: Element | null = element; at !== null; at = at.parentElement) path.push(at);
  return path;
}

/** What has the keyboard in an element: in an editor, its text, which lies in a tree of its own. */
const inner = (element: HTMLElement) =>
  element.shadowRoot?.querySelector<HTMLElement>('[tabindex="0"]') ?? element;

/** What takes the focus for something within this element; null: look further out. */
function landingOf(element: Element): HTMLElement | null {
  const asked = element.getAttribute(LANDING);
  const within = asked === null ? [] : element.querySelectorAll<HTMLElement>(asked);
  const found = [...within].find(isUsable);
  if (found !== undefined) return found;
  if (element.matches('dialog[open]')) {
    const heading = element.querySelector('h2');
    // Not before it is needed: a dialog that opens would give it the focus.
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

/** Gives the focus to the first that takes it; what lies behind a modal dialog does not. */
function land(path: readonly Element[]): boolean {
  return path.filter(isUsable).some((element) => {
    const to = landingOf(element);
    if (to !== null) inner(to).focus({ preventScroll: true });
    if (to === null || document.activeElement !== to) return false;
    landed = to;
    return true;
  });
}

/** Begins. `page` names the element that takes the focus when nothing nearer is left. */
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
    // It is still there: a person has pressed somewhere else.
    const [within, outside] = isUsable(last) ? [[], []] : [path, before];
    [path, before] = [[], []];
    if (within.length === 0) return;
    const open = within.filter((element) => element.matches('dialog[open]'));
    const home = document.getElementById(page);
    land([...open, ...outside, ...within, ...(home === null ? [] : pathOf(home))]);
  };
  // Whoever takes something away may give the focus to something else itself.
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
