// What the clock's state means.

/** Whether a step of the machine's clock waits for somebody to accept it. */
export function isUnconfirmed({ unconfirmed }: { unconfirmed: unknown }): boolean {
  return unconfirmed !== null && unconfirmed !== undefined && unconfirmed !== false;
}
