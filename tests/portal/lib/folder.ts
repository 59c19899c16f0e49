// Removes a test's folder, also where something is added to it meanwhile: it was once found not to be empty
// after the server that used it had ended.
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
