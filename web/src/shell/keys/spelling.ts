// Key names of the platform: ⌘ for Ctrl on Apple keyboards.

/** Whether the command key is ⌘. */
export const isApple = /^(Mac|iP)/.test(navigator.platform);

/** "Ctrl+K" as ["Ctrl", "K"] or ["⌘", "K"]; "g i" as ["g", "i"]. */
export function keysOf(written: string): string[] {
  return written.split(/[+ ]/).map((key) => (key === 'Ctrl' && isApple ? '⌘' : key));
}
