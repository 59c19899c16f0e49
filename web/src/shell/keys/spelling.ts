// How keys are written on this machine: ⌘ for Ctrl on an Apple keyboard.

/** Whether the key for commands is ⌘. */
export const isApple = /^(Mac|iP)/.test(navigator.platform);

/** "Ctrl+K" as ["Ctrl", "K"] or ["⌘", "K"]; "g i" as ["g", "i"]. */
export function keysOf(written: string): string[] {
  return written.split(/[+ ]/).map((key) => (key === 'Ctrl' && isApple ? '⌘' : key));
}
