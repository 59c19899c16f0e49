// Removes a test's folder. On some kernels what a process that was ended had under way appears in a
// folder a moment after its end was told.
import { rmSync } from 'node:fs';

export function removeFolder(folder: string, attempts = 10): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' || attempts <= 1) throw error;
    removeFolder(folder, attempts - 1);
  }
}
