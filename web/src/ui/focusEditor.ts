// Moves the focus into an editor from outside.

/** `within` selects an ancestor. The editor's text is in a shadow root. */
export function focusEditor(within: string): void {
  const host = document.querySelector(`${within} .editor`);
  host?.shadowRoot?.querySelector<HTMLElement>('.cm-content')?.focus();
}
