// Interprets the state of the clock.

/** Returns whether a step of the system clock awaits confirmation. */
export function isUnconfirmed({ unconfirmed }: { unconfirmed: unknown }): boolean {
  return unconfirmed !== null && unconfirmed !== undefined && unconfirmed !== false;
}
