// Gives the focus to an editor, from outside.

/** `within` selects what it stands in. The text of an editor lies in a tree of its own. */
export function focusEditor(within: string): void {
  const host = document.querySelector(`${within} .editor`);
  host?.shadowRoot?.querySelector<HTMLElement>('.cm-content')?.focus();
}
